"""Random generators of the emulated device: CPU generators that report ``cuda``.

torch creates them through a hook whose result, ``at::Generator``, is a reference-counted pointer. A ``torch.Generator`` holds such a
pointer after its object header (torch/csrc/Generator.h), from where it is moved.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator

import torch

from .native import CUDA

HEADER = object.__basicsize__  # of an object without a dictionary; at::Generator follows
CPU_DEVICE = 0xFF00  # c10::Device: type 0, index -1
FARTHEST = 200  # bytes; the state of a generator follows


class GeneratorDevices:
    """Changes which device a generator reports. The constructor raises ValueError if this torch stores the device elsewhere."""

    def __init__(self) -> None:
        self._offset = _device_offset()

    def set_cuda(self, generator: torch.Generator, index: int) -> None:
        """Let ``generator`` report ``cuda:index``."""
        self._bits(generator).value = CUDA | index << 8

    @contextlib.contextmanager
    def as_cpu(self, generators: list[torch.Generator]) -> Iterator[None]:
        """Let ``generators`` report ``cpu`` for the block, so that CPU kernels accept them."""
        before = [(bits, bits.value) for bits in map(self._bits, generators)]
        try:
            for bits, _ in before:
                bits.value = CPU_DEVICE
            yield
        finally:
            for bits, value in before:
                bits.value = value

    def create_at(self, index: int, target: int) -> int:
        """Create a generator of ``cuda:index`` and move the pointer to it to the address ``target``, which is returned."""
        generator = torch.Generator()
        self.set_cuda(generator, max(index, 0))
        pointer = ctypes.c_void_p.from_address(id(generator) + HEADER)
        ctypes.c_void_p.from_address(target).value = pointer.value
        pointer.value = None
        return target

    def _bits(self, generator: torch.Generator) -> ctypes.c_uint16:
        implementation = ctypes.c_void_p.from_address(id(generator) + HEADER).value
        assert implementation
        return ctypes.c_uint16.from_address(implementation + self._offset)


def address(generator: torch.Generator) -> int:
    """The address of ``at::Generator`` in ``generator``, which must be kept alive."""
    return id(generator) + HEADER


def _device_offset() -> int:
    """The offset of the device in a generator, found by trial because the fields before it differ between versions."""
    generator = torch.Generator()
    implementation = ctypes.c_void_p.from_address(id(generator) + HEADER).value or 0
    for offset in range(16, FARTHEST, 2):
        bits = ctypes.c_uint16.from_address(implementation + offset)
        if bits.value != CPU_DEVICE:
            continue
        bits.value = CUDA
        device = generator.device
        bits.value = CPU_DEVICE
        if device == torch.device("cuda", 0):
            return offset
    raise ValueError("no device field found in a generator")
