"""The C++ side of the emulated device: a device guard and hooks for ``cuda``, built with ctypes from the headers in torch's wheel.

A build of torch without CUDA has no device guard for it, so even ``torch.empty(2, device="cuda")`` raises, and its hooks report no
accelerator, so the autograd engine has no queue for its gradients. Both are objects with a table of virtual functions (Itanium C++
ABI: Linux). A copy of such a table with a few entries replaced is enough. The order of the entries is read from
``c10/core/impl/DeviceGuardImplInterface.h``, ``ATen/detail/AcceleratorHooksInterface.h`` and ``ATen/detail/CUDAHooksInterface.h``, so
it matches the running torch.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import platform
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

CUDA, META = (
    1,
    14,
)  # c10::DeviceType (torch/headeronly/core/DeviceType.h); their values are part of saved files, so they are stable
REGISTRY = "_ZN3c104impl26device_guard_impl_registryE"
HOOKS = "_ZN2at6detail12getCUDAHooksEv"
CPU_ALLOCATOR = "_ZN3c1015GetCPUAllocatorEv"
ENGINE = "_ZN5torch8autograd6Engine18get_default_engineEv"
START_THREADS = "_ZN5torch8autograd6Engine20start_device_threadsEv"
POINTER = ctypes.c_void_p
INDEX = ctypes.c_int8
# Functions in machine code (x86-64): some are called while a Python exception is pending, when no Python code may run.
# c10::Device is in the low 16 bits of the second argument: type, then index; c10::Stream is a device and a number of 64 bits.
NOTHING = "c3"  # ret
STREAM_OF_DEVICE = "0fb7c6 31d2 c3"  # movzx eax, si; xor edx, edx; ret
CONSTANT = "b8 {value} c3"  # mov eax, value; ret
BYTE = "48b8 {address} 0fb600 c3"  # mov rax, address; movzx eax, byte [rax]; ret
ADDRESS = "48b8 {address} c3"  # mov rax, address; ret
CURRENT = "48b8 {cell} 0fb700 c3"  # mov rax, cell; movzx eax, word [rax]; ret
CURRENT_INDEX = "48b8 {cell} 0fb64001 c3"  # … movzx eax, byte [rax+1]; ret
SET_DEVICE = "48b8 {cell} 6685f6 7803 668930 c3"  # mov rax, cell; test si, si; js end; mov [rax], si; end: ret
EXCHANGE_DEVICE = (
    "48b9 {cell} 0fb701 6685f6 7803 668931 c3"  # mov rcx, cell; movzx eax, word [rcx]; … mov [rcx], si; end: ret
)
SET_INDEX = "48b8 {cell} 4084f6 7804 40887001 c3"  # … test sil, sil; js end; mov [rax+1], sil; end: ret
EXCHANGE_INDEX = "48b9 {cell} 0fb64101 4084f6 7804 40887101 c3"  # … movzx eax, byte [rcx+1]; …

_kept_alive: list[Any] = []  # C++ points to these until the process ends


class EmulationUnsupported(Exception):
    """A CUDA device cannot be emulated here; the message says why, as a clause."""


@dataclass(slots=True)
class EmulatedDevices:
    """How many devices are emulated, and the current one, which C++ changes, too."""

    count: int = 1
    cell: Any = field(default_factory=lambda: ctypes.c_uint16(CUDA))  # c10::Device
    pinned: set[int] = field(default_factory=set)  # addresses of pinned memory
    default_generator: Callable[[int], int] | None = None  # index → address of an at::Generator
    new_generator: Callable[[int, int], int] | None = None  # index, target address of the at::Generator → that address
    cudnn: int = 0  # the version of cuDNN that torch sees, 0 for none
    # whether torch may choose it now: it then calls operators that no kernel for a CPU exists for, and C++ that asks the driver
    takes_cudnn: Any = field(default_factory=lambda: ctypes.c_uint8(0))

    @property
    def current(self) -> int:
        return int(self.cell.value) >> 8

    @current.setter
    def current(self, index: int) -> None:
        self.cell.value = CUDA | index << 8

    @contextlib.contextmanager
    def with_cudnn(self) -> Iterator[None]:
        """Let torch choose cuDNN in the block, where operators are traced and not run."""
        self.takes_cudnn.value = int(self.cudnn > 0)
        try:
            yield
        finally:
            self.takes_cudnn.value = 0


Entry = tuple[Any, list[Any], Any]


def install(devices: EmulatedDevices) -> None:
    """Install guard and hooks in torch. Raises EmulationUnsupported before anything is changed."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        raise EmulationUnsupported(
            f"CUDA emulation needs Linux on x86-64, not {platform.system()} on {platform.machine()}"
        )
    try:
        guard_order, guard_size = _order("c10/core/impl/DeviceGuardImplInterface.h", "DeviceGuardImplInterface", 0)
        base_order, base_size = _order("ATen/detail/AcceleratorHooksInterface.h", "AcceleratorHooksInterface", 0)
        cuda_order, cuda_size = _order("ATen/detail/CUDAHooksInterface.h", "CUDAHooksInterface", base_size)
        registry = (POINTER * (META + 1)).in_dll(_library("c10"), REGISTRY)
        hooks_of = getattr(_library("torch_cpu"), HOOKS)
        allocator_of = getattr(_library("c10"), CPU_ALLOCATOR)
        code = MachineCode(devices)
    except (OSError, ValueError, AttributeError) as error:
        raise EmulationUnsupported(f"CUDA emulation does not support the internals of this torch ({error})") from error
    for function in (hooks_of, allocator_of):
        function.restype, function.argtypes = POINTER, []
    hooks = hooks_of()
    meta = registry[META]
    if not meta or not hooks:
        raise EmulationUnsupported("this torch has no device guard to copy for CUDA emulation")
    guard = _with_entries(meta, guard_size, _guard_entries(guard_order, devices, code))
    live = _with_entries(hooks, cuda_size, _hook_entries(base_order, cuda_order, devices, code, allocator_of()))
    registry[CUDA] = ctypes.addressof(guard)
    ctypes.cast(hooks, ctypes.POINTER(POINTER))[0] = live[0]


def _library(name: str) -> ctypes.CDLL:
    return ctypes.CDLL(os.path.join(_torch_folder(), "lib", f"lib{name}.so"))


def _torch_folder() -> str:
    return os.path.dirname(str(sys.modules["torch"].__file__))


def _order(header: str, class_name: str, first: int) -> tuple[dict[str, int], int]:
    """The index of each virtual function that a class declares in its table, and the size of the table."""
    with open(os.path.join(_torch_folder(), "include", header), encoding="utf-8") as file:
        text = re.sub(r"//[^\n]*", "", file.read())
    declared = re.search(r"(?:struct|class)\s+(?:\w+\s+)?" + class_name + r"\b[^;{]*{", text)
    if declared is None:
        raise ValueError(f"{header} has no {class_name}")
    body = text[declared.end() :]
    body = body[: body.index("\n};")]
    places: dict[str, int] = {}
    place = first
    for match in re.finditer(r"\bvirtual\s+(?P<head>[^;{]*?)(?P<name>~?\w+)\s*\(", body):
        places.setdefault(match["name"], place)
        place += 2 if match["name"].startswith("~") else 1
    return places, place


class MachineCode:
    """An executable page of functions."""

    def __init__(self, devices: EmulatedDevices) -> None:
        self._memory = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        self._start = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        self._cell = ctypes.addressof(devices.cell).to_bytes(8, "little").hex()
        _kept_alive.extend([self._memory, devices.cell])

    def function(self, text: str, value: int = 0) -> int:
        """The address of a function with the bytes in ``text``, with the address of the current device and ``value`` filled in.

        ``value`` is a number of 32 bits, or an address.
        """
        number, address = (value & 0xFFFFFFFF).to_bytes(4, "little").hex(), value.to_bytes(8, "little").hex()
        self._memory.seek(-(-self._memory.tell() // 16) * 16)  # each starts at a multiple of 16 bytes
        place = self._start + self._memory.tell()
        self._memory.write(bytes.fromhex(text.format(cell=self._cell, value=number, address=address)))
        return place


def _with_entries(original: int, size: int, entries: Mapping[int, Entry | int]) -> Any:
    """An object with the table of ``original`` except for ``entries``: index → address, or (result, arguments, function)."""
    table = ctypes.cast(ctypes.cast(original, ctypes.POINTER(POINTER))[0], ctypes.POINTER(POINTER))
    copy = (POINTER * (size + 2))()
    for place in range(-2, size):  # before the functions: offset to top, type information
        copy[place + 2] = table[place]
    for place, entry in entries.items():
        if not isinstance(entry, int):
            result, arguments, function = entry
            callback = ctypes.CFUNCTYPE(result, POINTER, *arguments)(function)
            _kept_alive.append(callback)
            entry = int(ctypes.cast(callback, POINTER).value or 0)
        copy[place + 2] = entry
    clone = (POINTER * 1)(ctypes.addressof(copy) + 2 * ctypes.sizeof(POINTER))
    _kept_alive.extend([copy, clone])
    return clone


def _guard_entries(places: dict[str, int], devices: EmulatedDevices, code: MachineCode) -> dict[int, Entry | int]:
    nothing, yes, no = code.function(NOTHING), code.function(CONSTANT, 1), code.function(CONSTANT, 0)
    stream = code.function(STREAM_OF_DEVICE)
    wanted: dict[str, Entry | int] = {
        "type": code.function(CONSTANT, CUDA),
        "getDevice": code.function(CURRENT),
        "exchangeDevice": code.function(EXCHANGE_DEVICE),
        "setDevice": code.function(SET_DEVICE),
        "uncheckedSetDevice": code.function(SET_DEVICE),
        "deviceCount": code.function(CONSTANT, devices.count),
        "queryEvent": yes,
        "queryStream": yes,
        "isStreamCapturing": no,
        "elapsedTime": (ctypes.c_double, [POINTER, POINTER, INDEX], lambda *arguments: 1.0),
    }
    for name in ("getStream", "getDefaultStream", "getStreamFromGlobalPool", "getNewStream", "exchangeStream"):
        wanted[name] = stream
    for name in (
        "record",
        "block",
        "synchronizeStream",
        "synchronizeEvent",
        "synchronizeDevice",
        "destroyEvent",
        "recordDataPtrOnStream",
    ):
        wanted[name] = nothing
    return {places[name]: entry for name, entry in wanted.items() if name in places}


def _hook_entries(
    base: dict[str, int], cuda: dict[str, int], devices: EmulatedDevices, code: MachineCode, allocator: int
) -> dict[int, Entry | int]:
    nothing, yes, count = code.function(NOTHING), code.function(CONSTANT, 1), code.function(CONSTANT, devices.count)
    current, exchange = code.function(CURRENT_INDEX), code.function(EXCHANGE_INDEX)
    wanted: dict[str, Entry | int] = {
        **dict.fromkeys(("isBuilt", "isAvailable", "hasCUDA", "hasPrimaryContext"), yes),
        **_cudnn_entries(devices, code),
        **dict.fromkeys(("init", "deviceSynchronize"), nothing),
        **dict.fromkeys(("deviceCount", "getNumGPUs"), count),
        **dict.fromkeys(("getCurrentDevice", "current_device"), current),
        **dict.fromkeys(("exchangeDevice", "maybeExchangeDevice"), exchange),
        "setCurrentDevice": code.function(SET_INDEX),
        "getPinnedMemoryAllocator": code.function(ADDRESS, allocator),
        "isPinnedPtr": (ctypes.c_bool, [POINTER], lambda self, data: data in devices.pinned),
    }
    if (default := devices.default_generator) is not None:
        wanted["getDefaultGenerator"] = (POINTER, [INDEX], lambda self, index: default(index))
    if (new := devices.new_generator) is not None:
        # the address of a returned structure is passed before the object itself
        wanted["getNewGenerator"] = (POINTER, [POINTER, INDEX], lambda target, self, index: new(index, target))
    return {{**base, **cuda}[name]: entry for name, entry in wanted.items() if name in base or name in cuda}


def _cudnn_entries(devices: EmulatedDevices, code: MachineCode) -> dict[str, Entry | int]:
    """What torch asks to choose the operators and the memory formats of convolutions and batch norms."""
    _kept_alive.append(devices.takes_cudnn)
    is_there: dict[str, Entry | int] = {"compiledWithCuDNN": code.function(BYTE, ctypes.addressof(devices.takes_cudnn))}
    if not devices.cudnn:
        return is_there
    yes, number = code.function(CONSTANT, 1), code.function(CONSTANT, devices.cudnn)
    supported = (
        "hasCuDNN",
        "supportsDilatedConvolutionWithCuDNN",
        "supportsDepthwiseConvolutionWithCuDNN",
        "supportsBFloat16ConvolutionWithCuDNNv8",
        "supportsBFloat16RNNWithCuDNN",
    )
    return {
        **is_there,
        **dict.fromkeys(supported, yes),
        **dict.fromkeys(("versionCuDNN", "versionRuntimeCuDNN"), number),
        "batchnormMinEpsilonCuDNN": (ctypes.c_double, [], lambda self: 0.0),
    }


def start_gradient_threads(devices: EmulatedDevices) -> None:
    """Let an autograd engine that has already run create queues for the emulated devices; it counts devices at its first run.

    torch/csrc/autograd/engine.cpp, ``Engine::start_device_threads`` (torch 2.6 to 2.14), which returns at once when it finds none. Where
    it has found some, it is not called again: it would wait for as many threads as there are devices, and there would be more. A build
    with CUDA finds eight once there was a fake tensor (c10/core/impl/FakeGuardImpl.h), which is enough.
    """
    if _count_gradient_threads() >= devices.count:
        return
    library = _library("torch_cpu")
    try:
        engine_of, start = getattr(library, ENGINE), getattr(library, START_THREADS)
    except AttributeError as error:
        raise EmulationUnsupported(f"this torch does not support gradients on an added device ({error})") from error
    engine_of.restype, engine_of.argtypes = POINTER, []
    start.restype, start.argtypes = None, [POINTER]
    start(engine_of())


def _count_gradient_threads() -> int:
    """Threads for the gradients of a device, by their names (``Engine::thread_init``); Linux cuts them to 15 characters."""
    count = 0
    for thread in os.listdir("/proc/self/task"):
        with (
            contextlib.suppress(OSError),
            open(f"/proc/self/task/{thread}/comm", encoding="utf-8", errors="replace") as file,
        ):
            count += file.read().startswith("pt_autograd_")
    return count
