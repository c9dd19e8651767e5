"""Hands what an entry has found to torch.compile as the file's own line would, and calls it."""

from __future__ import annotations

import contextlib
from typing import Any

from .expressions import Call


def run(call: Call, plan: dict[str, Any], file: str) -> None:
    """Call the compiled target. Without ``compile`` in ``plan`` it is called as it is: the file compiles it itself, inside."""
    options = plan.get("compile")
    if options is None:
        call.run()
        return
    target = compile_at(call.target, file, int(options.get("line", 1)), bool(options.get("fullgraph")))
    call.run(target)


def compile_at(target: Any, file: str, line: int, fullgraph: bool) -> Any:
    """``torch.compile(target)``, called from ``line`` of ``file`` as far as the notes can see."""
    import torch

    names: dict[str, Any] = {"compile_target": torch.compile, "target": target, "fullgraph": fullgraph}
    code = "\n" * (line - 1) + "compiled = compile_target(target, fullgraph=fullgraph)"
    exec(compile(code, file, "exec"), names)
    return names["compiled"]


def begin_anew() -> None:
    """Dynamo forgets what it compiled: that the next module shares a line or a wrapper with the last is no recompile of anybody's."""
    import torch

    with contextlib.suppress(Exception):
        torch._dynamo.reset()


def seed() -> None:
    """The same random numbers in every run."""
    import torch

    with contextlib.suppress(Exception):
        torch.manual_seed(0)
