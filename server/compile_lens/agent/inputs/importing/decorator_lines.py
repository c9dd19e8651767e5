"""Tells what is being decorated where something is called, which the decorator cannot know.

`@partial(jit, static=1)` calls `jit` with the function and named arguments, and `@register(Base)` calls `register` with another class.
"""

from __future__ import annotations

import ast
import functools
from dataclasses import dataclass
from types import FrameType
from typing import Any

from ...runtime.parsed_source import parsed_file


@dataclass(frozen=True)
class _Decorator:
    """The lines of a decorator, the name of what it decorates, and the last parts of the names that it passes to calls."""

    first: int
    last: int
    decorated: str
    passed: frozenset[str]


def is_decorated(value: Any, frame: FrameType, is_named: bool) -> bool:
    """Whether the call in ``frame`` that gets ``value``, a function or a class, decorates it. ``is_named``: it gets names, too."""
    name = getattr(value, "__name__", "")
    here = [each for each in _decorators_in(frame.f_code.co_filename) if each.first <= frame.f_lineno <= each.last]
    if any(each.decorated == name for each in here):
        return True
    return not is_named and not any(name in each.passed for each in here)


@functools.lru_cache(maxsize=64)
def _decorators_in(path: str) -> tuple[_Decorator, ...]:
    tree = parsed_file(path)
    return tuple(
        _Decorator(each.lineno, each.end_lineno or each.lineno, node.name, frozenset(_passed(each)))
        for node in (ast.walk(tree) if tree is not None else ())
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        for each in node.decorator_list
    )


def _passed(decorator: ast.expr) -> list[str]:
    values = [value for call in ast.walk(decorator) if isinstance(call, ast.Call) for value in call.args]
    return [getattr(value, "attr", "") or getattr(value, "id", "") for value in values]
