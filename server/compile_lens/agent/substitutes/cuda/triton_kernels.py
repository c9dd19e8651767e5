"""Runs the user's Triton kernels in Triton's interpreter, on CPU memory.

A kernel keeps its class, so Dynamo traces it as on a GPU. Only its launch is replaced, ``JITFunction.run``, and what measures the
configurations of ``triton.autotune``, ``Autotuner.do_bench`` (triton 3.0 to 3.7).
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import torch

from ...instrument.import_hook import change_at_import
from ..notes import StandInNotes
from . import memory

JIT = "triton.runtime.jit"
AUTOTUNER = "triton.runtime.autotuner"
# milliseconds at three quantiles; all configurations take as long, and the first is chosen
SAME_TIME = [1.0, 1.0, 1.0]
LONGEST_TEXT = 2000
DOES_NOT_RUN = "Triton's interpreter failed in a trial on this machine"
# kernel, arguments, and by name the grid and the options
Launch = Callable[..., None]
LAUNCH_OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg", "stream", "debug", "sanitize_overflow")


def install(notes: StandInNotes, runs: bool = True) -> None:
    """Replace the launch of kernels, now or when Triton is imported. Without ``runs``, kernels are traced and not run."""

    def run(kernel: Any, *arguments: Any, grid: Any, warmup: bool = False, **named: Any) -> None:
        name = getattr(kernel, "__name__", "kernel")
        if not runs:
            notes.add("triton", f"{name}\n{DOES_NOT_RUN}")
            return
        try:
            _interpret(kernel, arguments, grid, named)
        except Exception as problem:  # the user's kernel may raise anything; the note says what
            notes.add("triton", f"{name}\n{type(problem).__name__}: {problem}".strip()[:LONGEST_TEXT])
        else:
            notes.add("triton", name)

    replace_launch(run)


def replace_launch(run: Launch) -> None:
    """Call ``run`` in place of the launch of a kernel, now or when Triton is imported; nothing is measured."""

    def measure(call: Any, quantiles: Any = None) -> list[float]:
        return list(SAME_TIME)

    launch: Any = torch.compiler.disable(run)

    def replace_run(jit: Any) -> None:
        jit.JITFunction.run = lambda kernel, *arguments, **named: launch(kernel, *arguments, **named)

    def replace_measurement(autotuner: Any) -> None:
        # an attribute of each object in some versions, which it then does not replace
        autotuner.Autotuner.do_bench = property(lambda _: measure, lambda *_: None)

    change_at_import({JIT: replace_run, AUTOTUNER: replace_measurement})


def _interpret(kernel: Any, arguments: tuple[Any, ...], grid: Any, named: dict[str, Any]) -> None:
    interpreter: Any = importlib.import_module("triton.runtime.interpreter")
    taken = {name: _on_cpu(value) for name, value in named.items() if name not in LAUNCH_OPTIONS}
    interpreter.InterpretedFunction(kernel.fn)[grid](*map(_on_cpu, arguments), **taken)


def _on_cpu(value: Any) -> Any:
    is_on_device = isinstance(value, torch.Tensor) and value.device.type == "cuda"
    return memory.cpu_alias(value) if is_on_device else value
