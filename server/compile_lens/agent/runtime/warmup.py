"""Warms the standby: what every run would import and initialize first is done once, before the fork, and then reset.

Tracing one small module with a break, two sizes and a backward pass loads what Dynamo imports lazily (its variables, sympy, the guards'
C++ side). On torch 2.13 that takes most of a second off the first compile of a run; `torch.compile` itself imports
torch/_inductor/compile_fx.py when it is first called, which takes another.
"""

from __future__ import annotations

import contextlib
import gc
import io
import logging
import weakref
from collections.abc import Iterator
from typing import Any

from ..torch_internals import dynamo, inductor
from ..torch_internals.core import DEL_LIBRARY
from . import precompiled_headers
from .degraded import degraded_if_it_fails
from .gpu_presence import environment, has_gpu, without_cuda_runtime


def warm() -> None:
    """Trace a small module, then leave torch as it was after its import. Raises what torch raises if it cannot compile here.

    Where there is a GPU nothing is traced: Dynamo asks for its state around each frame (torch/_dynamo/convert_frame.py,
    ``get_rng_state``), which makes a context, and a process with a context cannot be forked any more.
    """
    with without_cuda_runtime(), environment(**{precompiled_headers.WARM_POOL: "0"}):
        dynamo.DYNAMO.need()
        with degraded_if_it_fails("Inductor"):  # imports what Inductor needs; without that, Dynamo still runs
            inductor.COMPILE_FX.get()
            precompiled_headers.keep_private()
        if not has_gpu():
            with undone():
                _trace()
    _leave_operators_registered()
    # a child that collects garbage would copy every page that these objects are on
    gc.collect()
    gc.freeze()


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


def _leave_operators_registered() -> None:
    """Keep a run from destroying torch's operators one by one at exit, as Python does: its process ends right after."""
    finalizers = getattr(weakref.finalize, "_registry", {})
    for finalizer in list(finalizers):
        if (told := finalizer.peek()) is not None and told[1] is DEL_LIBRARY.look_up():
            finalizer.atexit = False


def _trace() -> None:
    import torch

    graph_break = dynamo.GRAPH_BREAK.get(lambda: None)

    class Small(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(2, 2)

        def forward(self, x: Any, n: int) -> Any:
            x = self.linear(x).relu() * n
            graph_break()
            return x.sum(-1)

    # Autograd counts the devices at its first backward pass, and starts a thread for each. A build with CUDA pretends to have eight of
    # them once there was a fake tensor (c10/core/impl/FakeGuardImpl.h), and a process with their threads cannot be forked.
    torch.zeros((), requires_grad=True).backward()
    compiled = torch.compile(Small(), backend="eager")
    for rows, factor in ((2, 1), (3, 2), (4, 3)):
        compiled(torch.zeros(rows, 2), factor).sum().backward()


def _forget() -> None:
    """Frame numbers, counters, dynamic sizes seen: a run must not notice that there was one before it."""
    import torch

    torch.compiler.reset()
    dynamo.FRAME_COUNTER.set(0)
    for counts in (dynamo.COUNTERS, dynamo.COMPILE_TIMES, dynamo.FRAME_COMPILE_COUNTER):
        counts.get({}).clear()
