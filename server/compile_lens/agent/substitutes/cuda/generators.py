"""Random generators of ``cuda``: those of the CPU that say another device.

torch makes them through a hook whose result, ``at::Generator``, is a counted pointer. A ``torch._C.Generator`` holds such a pointer
behind its object header (torch/csrc/Generator.h), from where it is moved.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator

import torch

from .native import CUDA

HEADER = object.__basicsize__  # of an object without a dictionary: what comes behind is at::Generator
CPU_DEVICE = 0xFF00  # c10::Device: type 0, index -1
FARTHEST = 200  # bytes; the state of a generator comes after


class Devices:
    """Changes which device a generator says. Raises ValueError when made if this torch keeps that elsewhere."""

    def __init__(self) -> None:
        self._offset = _device_offset()

    def become_cuda(self, generator: torch.Generator, index: int) -> None:
        """Let ``generator`` say ``cuda:index``."""
        self._bits(generator).value = CUDA | index << 8

    @contextlib.contextmanager
    def of_cpu(self, generators: list[torch.Generator]) -> Iterator[None]:
        """Kernels of the CPU take ``generators`` in here."""
        before = [(bits, bits.value) for bits in map(self._bits, generators)]
        try:
            for bits, _ in before:
                bits.value = CPU_DEVICE
            yield
        finally:
            for bits, value in before:
                bits.value = value

    def moved(self, index: int, target: int) -> int:
        """Make a generator of ``cuda:index`` and move the pointer to it to ``target``, which is returned."""
        generator = torch._C.Generator()
        self.become_cuda(generator, max(index, 0))
        pointer = ctypes.c_void_p.from_address(id(generator) + HEADER)
        ctypes.c_void_p.from_address(target).value = pointer.value
        pointer.value = None
        return target

    def _bits(self, generator: torch.Generator) -> ctypes.c_uint16:
        implementation = ctypes.c_void_p.from_address(id(generator) + HEADER).value
        assert implementation
        return ctypes.c_uint16.from_address(implementation + self._offset)


def address(generator: torch.Generator) -> int:
    """Where ``at::Generator`` stands in ``generator``, which must be kept."""
    return id(generator) + HEADER


def _device_offset() -> int:
    """Where the device stands in a generator: found by trying, as the fields before it differ between versions."""
    generator = torch._C.Generator()
    implementation = ctypes.c_void_p.from_address(id(generator) + HEADER).value or 0
    for offset in range(16, FARTHEST, 2):
        bits = ctypes.c_uint16.from_address(implementation + offset)
        if bits.value != CPU_DEVICE:
            continue
        bits.value = CUDA
        said = generator.device
        bits.value = CPU_DEVICE
        if said == torch.device("cuda", 0):
            return offset
    raise ValueError("no device in a generator")
