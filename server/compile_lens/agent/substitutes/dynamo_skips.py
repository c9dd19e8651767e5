"""Keeps Dynamo from compiling what stands in for C++: on a machine with a GPU there are no frames of Python in its place."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import CodeType, ModuleType


def hide(*modules: ModuleType) -> None:
    """Let Dynamo run every function of ``modules`` as it is, those that are made inside of others included."""
    from torch._dynamo.eval_frame import skip_code

    for module in modules:
        for code in _codes_of(module):
            skip_code(code)


def _codes_of(module: ModuleType) -> Iterator[CodeType]:
    for value in vars(module).values():
        if getattr(value, "__module__", None) != module.__name__:
            continue
        if inspect.isfunction(value):
            yield from _with_inner(value.__code__)
        elif inspect.isclass(value):
            for member in vars(value).values():
                function = getattr(member, "__func__", getattr(member, "fget", member))
                if inspect.isfunction(function):
                    yield from _with_inner(function.__code__)


def _with_inner(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _with_inner(constant)
