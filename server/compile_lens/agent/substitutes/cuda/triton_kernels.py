"""Triton kernels of the user's, in Triton's interpreter, on the memory of the CPU.

A kernel keeps its class, so Dynamo meets it as on a GPU. Only its launch is another: ``JITFunction.run`` (triton 3.0 to 3.7).
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

import torch

from ..notes import Told
from . import memory


def install(told: Told) -> None:
    """Do this for a Triton that is imported now or later; without Triton nothing can ask for it."""
    if "triton" in sys.modules:
        _install(told)
    else:
        sys.meta_path.insert(0, _AtImport(told))


class _AtImport:
    """Waits for ``triton.runtime.jit``, and finds nothing itself."""

    def __init__(self, told: Told) -> None:
        self._told = told

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Called before each import. The first one that comes after Triton's own is when its kernels can be changed."""
        if "triton.runtime.jit" in sys.modules and hasattr(sys.modules["triton.runtime.jit"], "JITFunction"):
            sys.meta_path.remove(self)
            _install(self._told)


def _install(told: Told) -> None:
    jit: Any = importlib.import_module("triton.runtime.jit")

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
