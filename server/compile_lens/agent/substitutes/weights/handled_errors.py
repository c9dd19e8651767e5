"""Tells whether the program itself handles a missing file; if so, nothing is substituted."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator
from typing import Any

from ...runtime.parsed_source import parsed_file

OTHER_NAMES = {"OSError": ("EnvironmentError", "IOError")}


def is_handled(error: BaseException, stack: Iterable[dict[str, Any]]) -> bool:
    """Whether a ``try`` around a line of ``stack`` catches ``error``, or the OSError of a missing file."""
    classes = {cls.__name__ for cls in (*type(error).__mro__, *OSError.__mro__)}
    names = {*classes, *(other for name in classes for other in OTHER_NAMES.get(name, ()))}
    return any(
        caught is None or caught in names for frame in stack for caught in _caught_at(frame["file"], frame["line"])
    )


def _caught_at(file: str, line: int) -> Iterator[str | None]:
    """The names of the exceptions caught around a line; None for all."""
    for first, last, names in _tries(file):
        if first <= line <= last:
            yield from names


@functools.lru_cache(maxsize=64)
def _tries(file: str) -> tuple[tuple[int, int, tuple[str | None, ...]], ...]:
    """The first and last line of the body of each ``try``, and the exceptions that its handlers catch."""
    tree = parsed_file(file)
    if tree is None:
        return ()
    return tuple(
        (node.body[0].lineno, node.body[-1].end_lineno or node.body[-1].lineno, tuple(_names(node.handlers)))
        for node in ast.walk(tree)
        if isinstance(node, ast.Try) and node.handlers
    )


def _names(handlers: list[ast.ExceptHandler]) -> Iterator[str | None]:
    for handler in handlers:
        if handler.type is None:
            yield None
            continue
        kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        for kind in kinds:
            if isinstance(kind, (ast.Name, ast.Attribute)):
                yield kind.attr if isinstance(kind, ast.Attribute) else kind.id
