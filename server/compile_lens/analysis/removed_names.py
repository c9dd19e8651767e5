"""Says what to write where a program asks a library for a name that its installed version has removed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compile_lens.agent.runtime.moved_names import module_replacement, replacement
from compile_lens.late_pattern import pattern

_NO_ATTRIBUTE = pattern(r"module '([\w.]+)' has no attribute '(\w+)'")
_CANNOT_IMPORT = pattern(r"cannot import name '(\w+)' from '([\w.]+)'")
_NO_MODULE = pattern(r"No module named '([\w.]+)'")


def removed_name_hints(message: str, line: str) -> Iterator[str]:
    """What to write instead, for an exception with ``message`` that was raised in ``line`` of the program.

    A name that the line does not have is asked for by a library: nothing of the program's can be written in another way.
    """
    for name in _asked_for(message, line):
        instead, since = replacement(name)
        instead = instead or module_replacement(name)
        is_here = name.rpartition(".")[2] in line or name.rpartition(".")[0] in line
        if instead and is_here:
            gone = f"was removed in {since}" if since else "is not there anymore"
            yield f"`{name}` {gone}. Use `{instead}` instead."


def _asked_for(message: str, line: str) -> Iterator[str]:
    """The full names that are not there."""
    if (found := _NO_ATTRIBUTE.search(message)) is not None:
        yield f"{found[1]}.{found[2]}"
    elif (found := _CANNOT_IMPORT.search(message)) is not None:
        yield f"{found[2]}.{found[1]}"
    elif (found := _NO_MODULE.search(message)) is not None:
        names = [f"{found[1]}.{name}" for name in _imported_from(found[1], line)]
        yield from names or [found[1]]


def _imported_from(module: str, line: str) -> Iterator[str]:
    """The names that ``line`` imports from ``module``."""
    try:
        tree = ast.parse(line.strip())
    except (SyntaxError, ValueError, RecursionError):
        return  # the statement goes on in other lines
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == module:
            yield from (each.name for each in node.names)
