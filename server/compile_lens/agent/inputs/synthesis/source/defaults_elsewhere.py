"""Finds what a parameter without a default has where the same file gives it one: a model says which kinds its parts know."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from typing import Any

from ....runtime.foreign_code import attempted

# those that a program can count on a part to have; a picture of 721 × 1440 is no first guess
_MOST_ITEMS, _LARGEST_ITEM = 8, 256


def default_elsewhere(owner: Any, name: str, kinds: set[str]) -> str | tuple[Any, ...] | list[Any] | None:
    """The text or the few small numbers that a function or a constructor of the file of ``owner`` has as the default of a parameter
    ``name``, where ``kinds``, those of its annotation, allow it; else None. Single numbers say more by their names."""
    module = sys.modules.get(str(getattr(owner, "__module__", "")))
    if module is None:
        return None
    for function in _functions_of(vars(module), module.__name__):
        signature = attempted(lambda function=function: inspect.signature(function))  # type: ignore[misc]
        parameter = signature.parameters.get(name) if signature is not None else None
        if parameter is not None and _fits(parameter.default, kinds):
            found: str | tuple[Any, ...] | list[Any] = parameter.default
            return found
    return None


def _functions_of(names: dict[str, Any], module: str) -> Iterator[Any]:
    for value in list(names.values()):
        if getattr(value, "__module__", None) != module:
            continue
        if isinstance(value, type):
            yield from (each for each in vars(value).values() if inspect.isfunction(each))
        elif inspect.isfunction(value):
            yield value


def _fits(value: Any, kinds: set[str]) -> bool:
    if type(value) is str:
        return bool(value) and kinds <= {"str"}
    if type(value) in (tuple, list) and 0 < len(value) <= _MOST_ITEMS:
        return kinds <= {"sequence", "tuple"} and all(
            type(item) in (int, float) and abs(item) <= _LARGEST_ITEM for item in value
        )
    return False
