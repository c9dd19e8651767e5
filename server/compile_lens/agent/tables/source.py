"""Reads Python source without importing it: syntax trees, documenting comments, locations."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from functools import lru_cache

# markers for torch's own tools
_MARKERS = re.compile(r"\[?@?compile_ignored:[^\]\n]*\]?|\[@[^\]\n]*\]|#?\s*(?:noqa|type: ignore|pyrefly: ignore)\b.*")
MAX_TEXT = 1600


class SourceFile:
    """One file under ``root`` (the folder that holds ``torch``): its text, lines and syntax tree."""

    def __init__(self, root: str, path: str) -> None:
        self.path = path
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
            self.text = file.read()
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


@lru_cache(maxsize=64)
def read(root: str, path: str) -> SourceFile | None:
    """The source at ``path`` under ``root``; None if it is missing or this Python cannot parse it."""
    try:
        return SourceFile(root, path)
    except (OSError, SyntaxError, ValueError):
        return None


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
