"""Parses only the part of a long file around one place, so that a keystroke does not wait for the whole file.

A window begins and ends where a statement begins at the left margin. Its imports are those of the whole file.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from msgspec import Struct

from compile_lens.late_pattern import pattern
from compile_lens.syntax.imports import Imports, read_imports
from compile_lens.syntax.tree import SourceTree, parse

MAX_LINES = 400
_IMPORT = pattern(r"^[ \t]*(?:import|from)[ \t][^\n(]*(?:\([^)]*\))?[^\n]*", re.MULTILINE)
# `cfg = torch._inductor.config` acts as an import; the regex starts at the equals sign, which is fast to find
# … and so do `aten = torch.ops.aten`, `mul = aten.mul` after it, and `F = torch.nn.functional`
_ALIAS = pattern(
    r"=[ \t]*(\w+(?:\.\w+)*\.(?:config|_config|ops|language|nn|functional|linalg|special|fft)"
    r"|(?:\w+\.)*ops(?:\.\w+){1,3}|(?:aten|prims)(?:\.\w+){1,2})[ \t]*(?:#[^\n]*)?$",
    re.MULTILINE,
)
_TARGET = pattern(r"(?:^|\n)[ \t]*(\w+)[ \t]*\Z")


class Window(Struct, frozen=True, eq=False):
    """Lines from ``first_line`` (from 1) on as a tree, and the imports of the whole file."""

    tree: SourceTree
    first_line: int
    imports: Imports


def window_around(line_of: Callable[[int], str], count: int, line: int, imports: Imports) -> Window:
    """The window around ``line`` (from 1) of a text of ``count`` lines, which ``line_of`` gives (from 0); all of it if it is short."""
    if count <= MAX_LINES:
        return Window(parse("\n".join(map(line_of, range(count)))), 1, imports)
    at = min(max(line - 1, 0), count - 1)
    first = at
    while first > 0 and at - first < MAX_LINES // 2 and not _begins_statement(line_of(first)):
        first -= 1
    last = at + 1
    while last < count and last - at < MAX_LINES // 2 and not _begins_statement(line_of(last)):
        last += 1
    return Window(parse("\n".join(map(line_of, range(first, last)))), first + 1, imports)


@lru_cache(maxsize=8)
def imports_of(text: str) -> Imports:
    """The imports of a file, and plain names for parts of a module."""
    statements = "\n".join(match.group().strip() for match in _IMPORT.finditer(text))
    aliases: list[tuple[str, str]] = []
    for match in _ALIAS.finditer(text):
        target = _TARGET.search(text, max(0, match.start() - 80), match.start())
        if target is not None:
            aliases.append((target.group(1), match.group(1)))
    return _read(statements, tuple(aliases))


@lru_cache(maxsize=64)
def _read(statements: str, aliases: tuple[tuple[str, ...], ...]) -> Imports:
    imports = read_imports(parse(statements))
    names = dict(imports.names)
    for name, value in aliases:
        full = Imports(names).resolve(value)
        if full.startswith(("torch", "triton")):
            names[name] = full
    return Imports(names, imports.modules, imports.has_torch)


def _begins_statement(line: str) -> bool:
    return line[:1] not in ("", " ", "\t", "#", ")", "]", "}", '"', "'", "\r")
