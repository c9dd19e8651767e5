"""Triton kernels of the user's, in Triton's interpreter, on the memory of the CPU.

A kernel keeps its class, so Dynamo meets it as on a GPU. Only its launch is another: ``JITFunction.run`` (triton 3.0 to 3.7).
"""

from __future__ import annotations

import importlib
from typing import Any

import torch

from ...instrument.import_hook import change_at_import
from ..notes import Told
from . import memory


def install(told: Told) -> None:
    """Do this for a Triton that is imported now or later; without Triton nothing can ask for it."""
    change_at_import({"triton.runtime.jit": lambda jit: _install(jit, told)})


def _install(jit: Any, told: Told) -> None:
    def run(kernel: Any, *arguments: Any, grid: Any, warmup: bool = False, **named: Any) -> None:
        name = getattr(kernel, "__name__", "kernel")
        try:
            _interpret(kernel, arguments, grid, named)
        except Exception as problem:
            told.happened("triton", f"{name}\n{type(problem).__name__}: {problem}".strip()[:2000])
        else:
            told.happened("triton", name)

    launch = torch._dynamo.disable(run)
    jit.JITFunction.run = lambda kernel, *arguments, **named: launch(kernel, *arguments, **named)


def _interpret(kernel: Any, arguments: tuple[Any, ...], grid: Any, named: dict[str, Any]) -> None:
    interpreter: Any = importlib.import_module("triton.runtime.interpreter")
    options = ("num_warps", "num_stages", "num_ctas", "maxnreg", "stream", "debug", "sanitize_overflow")
    taken = {name: _on_cpu(value) for name, value in named.items() if name not in options}
    interpreter.InterpretedFunction(kernel.fn)[grid](*map(_on_cpu, arguments), **taken)


def _on_cpu(value: Any) -> Any:
    is_there = isinstance(value, torch.Tensor) and value.device.type == "cuda"
    return memory.twin(value) if is_there else value
