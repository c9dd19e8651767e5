"""Compiles the target of an entry as a line of the file would, and calls it."""

from __future__ import annotations

import inspect
import operator
from types import ModuleType
from typing import Any

from ..torch_internals.attributes import original_function, original_module
from ..torch_internals.core import COMPILED_VERSIONS
from .expressions import PreparedCall


def run(call: PreparedCall, plan: dict[str, Any], file: str) -> None:
    """Call the compiled target. Without ``compile`` in ``plan`` the target is called as it is: the file compiles inside it."""
    options = plan.get("compile")
    if options is None:
        call.run()
        return
    target = compile_at(call.target, file, int(options.get("line", 1)), bool(options.get("fullgraph")))
    call.run(target)


def has_run(module: ModuleType, name: str) -> bool:
    """Whether Dynamo has compiled a version of the function or class ``name`` of ``module``: the file's own statements called it."""
    versions_of = COMPILED_VERSIONS.get()
    try:
        target = original_module(operator.attrgetter(name)(module))
    except AttributeError:
        return False
    if not inspect.isroutine(target):
        target = getattr(target if inspect.isclass(target) else type(target), "forward", None)
    code = getattr(inspect.unwrap(original_function(target)), "__code__", None) if target is not None else None
    return versions_of is not None and code is not None and bool(versions_of(code))


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
