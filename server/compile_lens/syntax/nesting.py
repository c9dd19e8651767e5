"""Measures how deep a source is nested, without recursion."""

from __future__ import annotations

import sys

from compile_lens.syntax.tree import SourceTree

# what walks a tree takes up to so many calls for each level
CALLS_PER_LEVEL = 4


def too_deep(name: str, tree: SourceTree) -> str:
    """One sentence, if ``tree`` is nested deeper than Python's recursion limit lets this process walk; else ''."""
    depth, line = _deepest(tree)
    limit = sys.getrecursionlimit()
    if depth * CALLS_PER_LEVEL < limit:
        return ""
    return f"{name} is not analyzed: line {line} is nested {depth:,} levels deep, and Python's recursion limit is {limit:,}."


def _deepest(tree: SourceTree) -> tuple[int, int]:
    """The most nodes inside each other, and the line where the innermost begins."""
    cursor = tree.tree.walk()
    deepest, line = 0, 1
    while True:
        if cursor.goto_first_child():
            if cursor.depth > deepest:
                deepest, line = cursor.depth, cursor.node.start_point[0] + 1 if cursor.node is not None else line
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return deepest, line
