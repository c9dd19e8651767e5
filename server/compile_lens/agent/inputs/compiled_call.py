"""Compiles the target of an entry as a line of the file would, and calls it."""

from __future__ import annotations

from typing import Any

from ..torch_internals.dynamo import FRAME_COUNTER
from .expressions import PreparedCall


def run(call: PreparedCall, plan: dict[str, Any], file: str) -> None:
    """Call the compiled target. Without ``compile`` in ``plan`` the target is called as it is: the file compiles inside it."""
    prepared(call, plan, file).run()


def prepared(call: PreparedCall, plan: dict[str, Any], file: str) -> PreparedCall:
    """``call`` with its target compiled, unless the file compiles inside it."""
    options = plan.get("compile")
    if options is None:
        return call
    target = compile_at(call.target, file, int(options.get("line", 1)), bool(options.get("fullgraph")))
    return PreparedCall(target, call.positional, call.named)


def frames_so_far() -> int:
    """How many frames Dynamo has been given to compile in this process."""
    return int(FRAME_COUNTER.look_up() or 0)


def compile_at(target: Any, file: str, line: int, fullgraph: bool) -> Any:
    """``torch.compile(target)``, called from ``line`` of ``file`` as far as the notes can see."""
    import torch

    names: dict[str, Any] = {"compile_target": torch.compile, "target": target, "fullgraph": fullgraph}
    code = "\n" * (line - 1) + "compiled = compile_target(target, fullgraph=fullgraph)"
    exec(compile(code, file, "exec"), names)
    return names["compiled"]


def reset_compiler() -> None:
    """Make Dynamo forget what it compiled: a module that shares a line or a wrapper with the last is not a recompile."""
    import torch

    torch.compiler.reset()


def seed() -> None:
    """Use the same random numbers in every run."""
    import torch

    torch.manual_seed(0)
