"""Whether there is a GPU, asked such that a process can be forked afterwards, and its children can use it."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import sys
import warnings
from collections.abc import Iterator

from ..torch_internals.cuda import (
    AMDSMI_DEVICE_COUNT,
    ASKS_NVML_FIRST,
    CACHED_DEVICE_COUNT,
    IS_COMPILED,
    LAZY_INIT,
    NVML_DEVICE_COUNT,
)
from . import processes

# torch/cuda/__init__.py, is_available(): asks NVML before the CUDA runtime
NVML_CHECK = "PYTORCH_NVML_BASED_CUDA_CHECK"


@contextlib.contextmanager
def without_cuda_runtime() -> Iterator[None]:
    """Let queries for GPUs use the driver's library only: after a start of the CUDA runtime, forked children cannot use a GPU.

    Where that library has no answer, torch asks the runtime, and parts of Inductor start it only to find that it does not start
    (torch/cuda/__init__.py, ``device_count`` and ``_lazy_init``; torch/_inductor/codecache.py, ``CacheBase.get_system``; torch 2.6 to
    2.13). So without a GPU, these functions are told that there is none; with one that is partitioned, that there is one.
    """
    if not _has_cuda():
        yield
        return

    def no_start() -> None:
        raise RuntimeError("there is no GPU")

    count, start = CACHED_DEVICE_COUNT.get(), LAZY_INIT.get()
    if not has_gpu():
        CACHED_DEVICE_COUNT.set(0)
        LAZY_INIT.set(no_start)
    elif _count_by_library() < 0:  # of a GPU that is partitioned (MIG), CUDA uses one partition
        CACHED_DEVICE_COUNT.set(1)
    try:
        with environment(**{NVML_CHECK: "1"}):
            yield
    finally:
        CACHED_DEVICE_COUNT.set(count)
        LAZY_INIT.set(start)


@contextlib.contextmanager
def copies_can_use_gpu() -> Iterator[None]:
    """Let the program ask torch for GPUs such that copies of this process that are forked meanwhile can use them.

    ``torch.cuda.is_available()`` starts the CUDA runtime, and a copy of a process where it was started refuses to use a GPU
    (torch/csrc/cuda/Module.cpp, ``THCPModule_getDeviceCount_wrap``). No variable of the program's environment is set for this.
    """
    if not is_usable():
        yield
        return
    count, asks_nvml = CACHED_DEVICE_COUNT.get(), ASKS_NVML_FIRST.get()
    if count is None and _count_by_library() < 0:  # of a GPU that is partitioned (MIG), CUDA uses one partition
        CACHED_DEVICE_COUNT.set(1)
    if asks_nvml is not None:
        ASKS_NVML_FIRST.set(lambda: True)
    try:
        yield
    finally:
        CACHED_DEVICE_COUNT.set(count)
        if asks_nvml is not None:
            ASKS_NVML_FIRST.set(asks_nvml)


@functools.cache
def is_usable() -> bool:
    """Whether the CUDA runtime finds a GPU. A copy of this process is asked: the answer starts the runtime."""
    if not has_gpu():
        return False
    if sys.platform != "linux":
        return starts()
    copy = processes.fork()
    if copy == 0:
        found = False
        try:
            found = starts()
        finally:
            os._exit(0 if found else 1)
    _, status = os.waitpid(copy, 0)
    return status == 0


def starts() -> bool:
    """Whether the CUDA runtime finds a GPU. Copies of this process cannot use one afterwards."""
    import torch

    try:
        # one that does not start, as in the sandbox, warns: the program did not ask, and the words would be among its own
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return bool(torch.cuda.is_available())
    except (RuntimeError, OSError):  # a driver that does not fit this build
        return False


def has_gpu() -> bool:
    """Whether torch could use a GPU, or is on a machine with a driver for one, whose GPUs may be hidden (``CUDA_VISIBLE_DEVICES``).

    The driver, once started, leaves a process that cannot be forked any more, also where it finds no device that it may use.
    """
    if not _has_cuda():
        return False
    return _count_by_library() > 0 or _has_driver()


@functools.cache
def _count_by_library() -> int:
    """Devices that torch may use, as the vendor's library counts them; negative where it cannot (no library, or MIG).

    Asked once, before any fork: NVIDIA's library starts a thread each time, and a process with threads is not forked.
    """
    import torch

    count_devices = AMDSMI_DEVICE_COUNT if torch.version.hip else NVML_DEVICE_COUNT
    count: int = count_devices.get(default=lambda: -1)()
    return count


def _has_cuda() -> bool:
    """Whether torch is built for a GPU."""
    return bool(IS_COMPILED.get(default=lambda: False)())


@functools.cache
def _has_driver() -> bool:
    if os.path.exists("/dev/kfd"):
        return True
    with contextlib.suppress(OSError):
        ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
        return True
    return False


@contextlib.contextmanager
def environment(**names: str) -> Iterator[None]:
    """Variables that are set for the block alone."""
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(names)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
