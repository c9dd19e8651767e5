"""Tells whether a value is being decorated, which its decorator cannot know: one made by `functools.partial` gets named arguments, too."""

from __future__ import annotations

import ast
import functools
from types import FrameType
from typing import Any

from ..runtime.parsed_source import parsed_file


def is_decorating(value: Any, frame: FrameType) -> bool:
    """Whether the line that runs in ``frame`` is of a decorator of ``value``, a function or a class that has been made."""
    name = getattr(value, "__name__", "")
    decorators = _decorators_in(frame.f_code.co_filename).get(name, ())
    return any(first <= frame.f_lineno <= last for first, last in decorators)


@functools.lru_cache(maxsize=64)
def _decorators_in(path: str) -> dict[str, list[tuple[int, int]]]:
    """The first and the last line of each decorator in a file, by the name of what it decorates."""
    tree = parsed_file(path)
    found: dict[str, list[tuple[int, int]]] = {}
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            lines = [(each.lineno, each.end_lineno or each.lineno) for each in node.decorator_list]
            found.setdefault(node.name, []).extend(lines)
    return found
