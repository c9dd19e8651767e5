"""Parses only the part of a long file around one place, so that a keystroke does not wait for the whole file.

A window begins and ends where a statement begins at the left margin. Its imports are those of the whole file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from compile_lens.syntax.imports import Imports, read_imports
from compile_lens.syntax.tree import SourceTree, parse

MAX_LINES = 400
_IMPORT = re.compile(r"^[ \t]*(?:import|from)[ \t][^\n(]*(?:\([^)]*\))?[^\n]*", re.MULTILINE)
# `cfg = torch._inductor.config` acts as an import; the regex starts at the equals sign, which is fast to find
# … and so do `aten = torch.ops.aten`, `mul = aten.mul` after it, and `F = torch.nn.functional`
_ALIAS = re.compile(
    r"=[ \t]*(\w+(?:\.\w+)*\.(?:config|_config|ops|language|nn|functional|linalg|special|fft)"
    r"|(?:\w+\.)*ops(?:\.\w+){1,3}|(?:aten|prims)(?:\.\w+){1,2})[ \t]*(?:#[^\n]*)?$",
    re.MULTILINE,
)
_TARGET = re.compile(r"(?:^|\n)[ \t]*(\w+)[ \t]*\Z")


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """Lines from ``first_line`` (from 1) on as a tree, and the imports of the whole file."""

    tree: SourceTree
    first_line: int
    imports: Imports


def window_around(text: str, line: int) -> Window:
    """The window around ``line`` (from 1); the whole text if it is short."""
    lines = text.split("\n")
    imports = imports_of(text)
    if len(lines) <= MAX_LINES:
        return Window(parse(text), 1, imports)
    at = min(max(line - 1, 0), len(lines) - 1)
    first = at
    while first > 0 and at - first < MAX_LINES // 2 and not _begins_statement(lines[first]):
        first -= 1
    last = at + 1
    while last < len(lines) and last - at < MAX_LINES // 2 and not _begins_statement(lines[last]):
        last += 1
    return Window(parse("\n".join(lines[first:last])), first + 1, imports)


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
