"""Tensors of the emulated device in CPU memory: plain ``torch.Tensor`` objects, imported as DLPack capsules.

In the other direction, a *CPU alias* is a CPU tensor over the memory of such a tensor, for the duration of one operator.
"""

from __future__ import annotations

import ctypes
import math
from typing import Any

import torch

from ...torch_internals import core

# https://dmlc.github.io/dlpack/latest/c_api.html
CPU_DEVICE, CUDA_DEVICE = 1, 2
INT, UINT, FLOAT, BFLOAT, COMPLEX, BOOL = 0, 1, 2, 4, 5, 6
CODES = {
    torch.float64: (FLOAT, 64),
    torch.float32: (FLOAT, 32),
    torch.float16: (FLOAT, 16),
    torch.bfloat16: (BFLOAT, 16),
    torch.complex32: (COMPLEX, 32),
    torch.complex64: (COMPLEX, 64),
    torch.complex128: (COMPLEX, 128),
    torch.int8: (INT, 8),
    torch.int16: (INT, 16),
    torch.int32: (INT, 32),
    torch.int64: (INT, 64),
    torch.uint8: (UINT, 8),
    torch.uint16: (UINT, 16),
    torch.uint32: (UINT, 32),
    torch.uint64: (UINT, 64),
    torch.bool: (BOOL, 8),
}


class _Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("index", ctypes.c_int32)]


class _DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("dimensions", ctypes.c_int32),
        ("type", _DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
    ]


class _Managed(ctypes.Structure):
    _fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
# One block holds description, shape, strides and values, and `free` releases it: whoever drops the last reference may not hold the GIL,
# or may be about to raise, so no Python code can run then.
_c = ctypes.CDLL(None)
_c.malloc.restype = _c.calloc.restype = ctypes.c_void_p
_c.malloc.argtypes, _c.calloc.argtypes = [ctypes.c_size_t], [ctypes.c_size_t, ctypes.c_size_t]
_free = ctypes.cast(_c.free, ctypes.c_void_p).value
ALIGNMENT = 64
MMAP_THRESHOLD = -3  # M_MMAP_THRESHOLD (malloc.h)

_from_dlpack = core.TENSOR_FROM_DLPACK.need()
_storage_at = core.STORAGE_AT_ADDRESS.need()
_conjugate_view, _negative_view = core.CONJUGATE_VIEW.need(), core.NEGATIVE_VIEW.need()
_reinterpret = core.REINTERPRET_TENSOR.need()


def to_device(values: torch.Tensor, index: int) -> torch.Tensor:
    """Copy ``values``, a CPU tensor, to ``cuda:index``, with the same shape, strides and offset."""
    typed = CODES.get(values.dtype)
    whole = _whole_storage(values, torch.uint8 if typed is None else values.dtype)
    made: torch.Tensor = _from_dlpack(_capsule(whole, *(typed or (UINT, 8)), index))
    if typed is None:
        made = torch.ops.aten.view.dtype(made, values.dtype)
    if made.shape == values.shape and made.stride() == values.stride():
        return made
    return reinterpret(made, values.shape, values.stride(), values.storage_offset())


def reinterpret(tensor: torch.Tensor, shape: torch.Size, strides: tuple[int, ...], offset: int) -> torch.Tensor:
    """A view of the storage of ``tensor``; torch 2.15 takes no ``torch.Size`` for a shape."""
    viewed: torch.Tensor = _reinterpret(tensor, tuple(shape), strides, offset)
    return viewed


def zeros(shape: tuple[int, ...], strides: tuple[int, ...], dtype: torch.dtype, index: int) -> torch.Tensor:
    """A tensor of zeros on ``cuda:index``, which takes memory only where it is written to or, if it is small, at once."""
    size = 0 if 0 in shape else 1 + sum((length - 1) * stride for length, stride in zip(shape, strides, strict=True))
    code, bits = CODES.get(dtype, (UINT, 8))
    count = size if dtype in CODES else size * dtype.itemsize
    capsule, _ = _allocate((count,), (1,), code, bits, index, is_zeroed=True)
    made: torch.Tensor = _from_dlpack(capsule)
    if dtype not in CODES:
        made = torch.ops.aten.view.dtype(made, dtype)
    return reinterpret(made, torch.Size(shape), tuple(strides), 0)


def return_memory_at_once() -> None:
    """Have blocks of a megabyte or more mapped anew each time: pages that nobody writes to take no memory (mallopt(3))."""
    _c.mallopt(MMAP_THRESHOLD, 1 << 20)


def _whole_storage(values: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The whole storage of ``values`` in one dimension; ``values`` itself where that is the same."""
    storage = values.untyped_storage()
    if values.dtype == dtype and values.is_contiguous() and storage.nbytes() == values.numel() * values.itemsize:
        return values
    return flat(storage, dtype)


def flat(storage: torch.UntypedStorage, dtype: torch.dtype) -> torch.Tensor:
    """The whole of ``storage`` as a tensor of one dimension, on its device."""
    empty = torch.ops.aten.empty.memory_format([0], dtype=dtype, device=storage.device)
    made: torch.Tensor = torch.ops.aten.set_.source_Storage_storage_offset(
        empty, storage, 0, [storage.nbytes() // dtype.itemsize], [1]
    )
    return made


def cpu_storage(tensor: torch.Tensor) -> torch.UntypedStorage:
    """The memory of ``tensor``, which is on the emulated device, as a storage of the CPU."""
    storage = tensor.untyped_storage()
    made: torch.UntypedStorage = _storage_at(storage.data_ptr(), torch.device("cpu"), storage.nbytes())
    return made


def _capsule(values: torch.Tensor, code: int, bits: int, index: int) -> Any:
    """A copy of the dense tensor ``values`` as a DLPack capsule."""
    capsule, data = _allocate(values.shape, values.stride(), code, bits, index)
    if values.numel():
        ctypes.memmove(data, values.data_ptr(), values.numel() * values.itemsize)
    return capsule


def _allocate(
    lengths: tuple[int, ...], steps: tuple[int, ...], code: int, bits: int, index: int, is_zeroed: bool = False
) -> tuple[Any, int]:
    """A capsule of a dense tensor, and the address of its values."""
    count = len(lengths)
    numbers = ctypes.c_int64 * count
    head = ctypes.sizeof(_Managed) + 2 * ctypes.sizeof(numbers)
    size = math.prod(lengths) * bits // 8
    whole = head + size + ALIGNMENT
    block = _c.calloc(1, whole) if is_zeroed else _c.malloc(whole)
    if not block:
        raise MemoryError(f"no memory for a tensor of {size} bytes")
    data = _rounded(block + head)
    shape, strides = (
        numbers.from_address(block + ctypes.sizeof(_Managed)),
        numbers.from_address(head - ctypes.sizeof(numbers) + block),
    )
    shape[:], strides[:] = list(lengths), list(steps)
    managed = _Managed.from_address(block)
    managed.tensor.data = data
    managed.tensor.device = _Device(CUDA_DEVICE, index)
    managed.tensor.dimensions = count
    managed.tensor.type = _DataType(code, bits, 1)
    managed.tensor.shape, managed.tensor.strides = shape, strides
    managed.tensor.offset = 0
    managed.context = None
    managed.deleter = _free
    return _new_capsule(block, b"dltensor", None), data


def _rounded(size: int) -> int:
    return (size + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT


def patch_storages() -> None:
    """Let ``resize_`` leave a storage of the device unchanged, ``to`` move one there, and ``clone`` copy one.

    FSDP frees and allocates parameters with the first; ``torch.load`` moves tensors to a device with the second, and ``copy.deepcopy``
    copies a model with the third: C++ allocates a storage by its device (torch/csrc/Storage.cpp).
    """
    original, moved, cloned = torch.UntypedStorage.resize_, torch.UntypedStorage.to, torch.UntypedStorage.clone

    def to(self: Any, *, device: Any, non_blocking: bool = False) -> Any:
        wanted = torch.device(device)
        if wanted.type != "cuda" or self.device.type != "cpu":
            return moved(self, device=device, non_blocking=non_blocking)
        return on_device(self, wanted.index or 0)

    def clone(self: Any) -> Any:
        if self.device.type != "cuda":
            return cloned(self)
        memory = _storage_at(self.data_ptr(), torch.device("cpu"), self.nbytes())
        return on_device(memory, self.device.index)

    def on_device(storage: Any, index: int) -> Any:
        return to_device(flat(storage, torch.uint8), index).untyped_storage()

    def resize_(self: Any, size: int) -> Any:
        return self if self.device.type == "cuda" else original(self, size)

    torch.UntypedStorage.resize_, torch.UntypedStorage.to, torch.UntypedStorage.clone = resize_, to, clone


def cpu_alias(tensor: torch.Tensor) -> torch.Tensor:
    """A CPU tensor over the memory of ``tensor``, which is on the emulated device."""
    empty = torch.ops.aten.empty.memory_format([0], dtype=tensor.dtype, device="cpu")
    made: torch.Tensor = torch.ops.aten.set_.source_Storage_storage_offset(
        empty, cpu_storage(tensor), tensor.storage_offset(), tensor.shape, tensor.stride()
    )
    made = _negative_view(made) if tensor.is_neg() else made
    return _conjugate_view(made) if tensor.is_conj() else made
