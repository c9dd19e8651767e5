"""Keeps Dynamo out of the agent's own functions that run while a compiled region is traced."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

from ..torch_internals.dynamo import SKIP_CODE


def skip_modules(*modules: ModuleType) -> None:
    """Let Dynamo run every function of ``modules`` as plain Python, nested functions included.

    They replace C++ functions of torch, and on a machine with a GPU there would be no Python frames in their place.
    """
    skip_code = SKIP_CODE.need()
    for module in modules:
        for code in _codes_of(module):
            skip_code(code)


def skip_functions(*functions: Any) -> None:
    """Let Dynamo run ``functions`` as plain Python, if Dynamo is imported; other objects are ignored."""
    skip_code = SKIP_CODE.get() if "torch._dynamo.eval_frame" in sys.modules else None
    for function in functions:
        if skip_code is not None and isinstance(function, FunctionType):
            skip_code(function.__code__)


def skipped(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function``, which stands for one in C that Dynamo does not trace into either."""
    skip_functions(function)
    return function


def outside_dynamo(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` such that Dynamo traces nothing that it calls, if Dynamo is imported."""
    if "torch._dynamo.eval_frame" not in sys.modules:
        return function
    disabled: Callable[..., Any] = sys.modules["torch"].compiler.disable(function)
    return disabled


def _codes_of(module: ModuleType) -> Iterator[CodeType]:
    for value in vars(module).values():
        if getattr(value, "__module__", None) != module.__name__:
            continue
        if inspect.isfunction(value):
            yield from _with_nested(value.__code__)
        elif inspect.isclass(value):
            for member in vars(value).values():
                function = getattr(member, "__func__", getattr(member, "fget", member))
                if inspect.isfunction(function):
                    yield from _with_nested(function.__code__)


def _with_nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _with_nested(constant)
