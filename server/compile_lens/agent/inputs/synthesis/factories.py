"""Finds functions of a file that construct a class with a configuration of their own: ``def resnet18(**kwargs)``."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType

MOST = 4


def factories(module: ModuleType, cls: type) -> Iterator[str]:
    """The names of public functions of ``module`` that can be called without arguments and name ``cls``, themselves or one call further."""
    own = {
        name: value
        for name, value in vars(module).items()
        if type(value) is FunctionType and value.__module__ == module.__name__
    }
    direct = {name for name, function in own.items() if cls.__name__ in _names(function.__code__)}
    found = [
        name
        for name, function in own.items()
        if not name.startswith("_")
        and (name in direct or _names(function.__code__) & direct)
        and _needs_nothing(function)
    ]
    yield from found[:MOST]


def _names(code: CodeType) -> set[str]:
    """The global names that a function uses, also in functions inside it."""
    inside = (_names(each) for each in code.co_consts if isinstance(each, CodeType))
    return set(code.co_names).union(*inside)


def _needs_nothing(function: FunctionType) -> bool:
    return all(
        parameter.default is not parameter.empty or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        for parameter in inspect.signature(function).parameters.values()
    )
