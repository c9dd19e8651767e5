"""Makes the standby warm: what every run would import and fill in first is done once, before the fork, and then forgotten.

Tracing one small module with a break, two sizes and a backward pass loads what Dynamo imports lazily (its variables, sympy, the guards'
C++ side). On torch 2.13 that takes most of a second off the first compile of a run; `torch.compile` itself imports
torch/_inductor/compile_fx.py when it is first called, which takes another.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import gc
import importlib
import io
import logging
import os
import sys
from collections.abc import Iterator
from typing import Any

from . import precompiled_headers

# torch/cuda/__init__.py, is_available(): asks NVML before the CUDA runtime
NVML_CHECK = "PYTORCH_NVML_BASED_CUDA_CHECK"
# torch/_inductor/async_compile.py: torch 2.6 starts processes that compile for Triton, and threads for them, when it is imported
WARM_POOL = "TORCH_WARM_POOL"


def warm() -> None:
    """Trace a small module, then leave torch as it was after its import. Raises what torch raises if it cannot compile here.

    Where there is a GPU nothing is traced: Dynamo asks for its state around each frame (torch/_dynamo/convert_frame.py,
    ``get_rng_state``), which makes a context, and a process with a context cannot be forked any more.
    """
    with asked_kindly(), environment(**{WARM_POOL: "0"}):
        importlib.import_module("torch._dynamo")
        with contextlib.suppress(Exception):  # a torch without Inductor's needs can still run Dynamo
            importlib.import_module("torch._inductor.compile_fx")
            precompiled_headers.keep_private(importlib.import_module("torch._inductor.codecache"))
        if not has_gpu():
            with undone():
                _trace()
    # a child that collects garbage would copy every page that these objects are on
    gc.collect()
    gc.freeze()


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


@contextlib.contextmanager
def undone() -> Iterator[None]:
    """Let what is compiled here say nothing, and be forgotten: frames, counters, random numbers."""
    import torch

    random_state = torch.random.get_rng_state()
    level = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            yield
    finally:
        logging.disable(level)
        torch.random.set_rng_state(random_state)
        _forget()


@contextlib.contextmanager
def asked_kindly() -> Iterator[None]:
    """Let questions for GPUs reach the driver's library alone: the CUDA runtime leaves a process whose children cannot use one.

    Where that library cannot tell, torch asks the runtime, and some of Inductor starts it only to see that it does not start
    (torch/cuda/__init__.py, ``device_count`` and ``_lazy_init``; torch/_inductor/codecache.py, ``CacheBase.get_system``; torch 2.6 to
    2.13). So without a GPU these are made to know that there is none.
    """
    import torch

    cuda: Any = torch.cuda
    if has_gpu() or not cuda._is_compiled():
        with environment(**{NVML_CHECK: "1"}):
            yield
        return

    def no_start() -> None:
        raise RuntimeError("there is no GPU")

    known, start = cuda._cached_device_count, cuda._lazy_init
    cuda._cached_device_count, cuda._lazy_init = 0, no_start
    try:
        with environment(**{NVML_CHECK: "1"}):
            yield
    finally:
        cuda._cached_device_count, cuda._lazy_init = known, start


@functools.cache
def has_gpu() -> bool:
    """Whether torch could use a GPU, or is on a machine that may have one.

    Asked once, before any fork: NVIDIA's library starts a thread each time, and a process with threads is not forked.
    """
    import torch

    cuda: Any = torch.cuda
    if not cuda._is_compiled():
        return False
    count: int = cuda._device_count_amdsmi() if torch.version.hip else cuda._device_count_nvml()
    return count > 0 or (count < 0 and _has_driver())


def _has_driver() -> bool:
    if os.path.exists("/dev/kfd"):
        return True
    with contextlib.suppress(OSError):
        ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
        return True
    return False


def _trace() -> None:
    import torch

    class Small(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(2, 2)

        def forward(self, x: Any, n: int) -> Any:
            x = self.linear(x).relu() * n
            torch._dynamo.graph_break()
            return x.sum(-1)

    # Autograd counts the devices at its first backward pass, and starts a thread for each. A build with CUDA pretends to have eight of
    # them once there was a fake tensor (c10/core/impl/FakeGuardImpl.h), and a process with their threads cannot be forked.
    torch.zeros((), requires_grad=True).backward()
    compiled = torch.compile(Small(), backend="eager")
    for rows, factor in ((2, 1), (3, 2), (4, 3)):
        compiled(torch.zeros(rows, 2), factor).sum().backward()


def _forget() -> None:
    """Frame numbers, counters, dynamic sizes seen: a run must not notice that there was one before it."""
    import torch._dynamo
    import torch._dynamo.convert_frame as convert_frame

    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    torch._dynamo.utils.compilation_time_metrics.clear()
    convert_frame.FRAME_COUNTER = 0
    convert_frame.FRAME_COMPILE_COUNTER.clear()
