"""Reads Python source without importing it: syntax trees, documenting comments, locations."""

from __future__ import annotations

import ast
import os
import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache

# markers for torch's own tools
_MARKERS = re.compile(r"\[?@?compile_ignored:[^\]\n]*\]?|\[@[^\]\n]*\]|#?\s*(?:noqa|type: ignore|pyrefly: ignore)\b.*")
MAX_TEXT = 1600


class SourceFile:
    """One file under ``root`` (the folder that holds ``torch``): its text, lines and syntax tree."""

    def __init__(self, root: str, path: str) -> None:
        self.path = path
        self.text = text_of(root, path)
        self.lines = self.text.split("\n")
        self.tree = ast.parse(self.text)

    def at(self, line: int) -> str:
        """The location of a line: ``torch/_inductor/ir.py:123``."""
        return f"{self.path}:{line}"

    def whole(self, node: ast.stmt | ast.expr) -> str:
        """The source text of ``node`` (``ast.get_source_segment`` splits the whole file at each call)."""
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        if first == last:
            return self.lines[first].encode()[node.col_offset : node.end_col_offset].decode("utf-8", "replace")
        head = self.lines[first].encode()[node.col_offset :].decode("utf-8", "replace")
        tail = self.lines[last].encode()[: node.end_col_offset].decode("utf-8", "replace")
        return "\n".join([head, *self.lines[first + 1 : last], tail])

    def segment(self, node: ast.stmt | ast.expr, most: int = 200) -> str:
        """The source text of ``node`` on one line."""
        text = " ".join(self.whole(node).split())
        return text if len(text) <= most else text[: most - 1] + "…"

    def comment(self, line: int, end_line: int | None = None) -> str:
        """The comment lines directly above ``line``, and the trailing comment on the last line."""
        above: list[str] = []
        at = line - 2
        while at >= 0 and self.lines[at].lstrip().startswith("#"):
            above.append(self.lines[at].strip())
            at -= 1
        text = cleaned("\n".join(part.lstrip("#").removeprefix(" ") for part in reversed(above)))
        last = self.lines[(end_line or line) - 1]
        trailing = re.search(r"[^#'\"]*?\s#\s?([^'\"]*)$", last)
        after = cleaned(trailing.group(1)) if trailing and not last.lstrip().startswith("#") else ""
        return "\n".join(part for part in (text, after) if part)

    def lines_with(self, pattern: re.Pattern[str]) -> list[int]:
        """The numbers of the lines that ``pattern`` is found in."""
        return [number for number, line in enumerate(self.lines, 1) if pattern.search(line)]


def text_of(root: str, path: str) -> str:
    """The text of ``path`` under ``root``."""
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
        return file.read()


@lru_cache(maxsize=256)
def lines_of(root: str, path: str) -> list[str]:
    """The lines of a file that need not be parsed; none if it is missing."""
    try:
        return text_of(root, path).split("\n")
    except OSError:
        return []


# few, because a tree takes a hundred times the memory of its text
@lru_cache(maxsize=24)
def read(root: str, path: str) -> SourceFile | None:
    """The source at ``path`` under ``root``; None if it is missing or this Python cannot parse it."""
    try:
        return SourceFile(root, path)
    except (OSError, SyntaxError, ValueError):
        return None


def mentioning(root: str, paths: Iterator[str], pattern: re.Pattern[str]) -> Iterator[SourceFile]:
    """Those of ``paths`` whose text has ``pattern``; only they are parsed, which is what takes the time."""
    for path in paths:
        if pattern.search(text_of(root, path)):
            source = read(root, path)
            if source is not None:
                yield source


# half of the nodes of a tree, and nothing is asked of them
_LEAVES = (ast.expr_context, ast.operator, ast.cmpop, ast.unaryop, ast.boolop)


def walk(top: ast.AST, lines: list[int] | None = None) -> Iterator[ast.AST]:
    """``top`` and what is below it, in the order of the text. With ``lines`` (sorted), without statements that hold none of them.

    Three times as fast as ``ast.walk``, which asks each node for its fields by two generators.
    """
    pending = [top]
    while pending:
        node = pending.pop()
        if lines is not None and isinstance(node, ast.stmt):
            first = min((part.lineno for part in getattr(node, "decorator_list", ())), default=node.lineno)
            at = bisect_left(lines, first)
            if at == len(lines) or lines[at] > (node.end_lineno or node.lineno):
                continue
        yield node
        below: list[ast.AST] = []
        for value in vars(node).values():
            if isinstance(value, list):
                below += [part for part in value if isinstance(part, ast.AST)]
            elif isinstance(value, ast.AST) and not isinstance(value, _LEAVES):
                below.append(value)
        pending += reversed(below)


def cleaned(text: str, most: int = MAX_TEXT) -> str:
    """``text`` without tool markers and surrounding blank lines, cut at a line or sentence end if longer than ``most``."""
    lines = [_MARKERS.sub("", line).rstrip() for line in text.strip().split("\n")]
    whole = "\n".join(lines).strip()
    if len(whole) <= most:
        return whole
    head = whole[:most]
    return head[: max(head.rfind("\n"), head.rfind(". ") + 1, most // 2)].rstrip() + " …"


def docstring(node: ast.AST, most: int = MAX_TEXT) -> str:
    """The docstring of a module, class or function, or ''."""
    if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
        return ""
    return cleaned(ast.get_docstring(node) or "", most)


def dotted(node: ast.AST) -> str:
    """``a.b.c`` for a chain of attributes; '' for any other expression."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([node.id, *reversed(parts)])


def signature(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """``(x, y=1) -> T`` as written."""
    returns = f" -> {ast.unparse(node.returns)}" if node.returns is not None else ""
    return f"({ast.unparse(node.args)}){returns}"


def string(node: ast.AST | None) -> str | None:
    """The value of a string literal; None for any other node."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def python_files(root: str, folder: str) -> Iterator[str]:
    """The Python files under ``root/folder``, relative to ``root`` and with ``/`` on every platform, in a fixed order."""
    for parent, folders, names in os.walk(os.path.join(root, folder)):
        folders[:] = sorted(
            name for name in folders if name not in ("__pycache__", "testing", "test", "tests", "include")
        )
        for name in sorted(names):
            if name.endswith(".py"):
                yield os.path.relpath(os.path.join(parent, name), root).replace(os.sep, "/")
