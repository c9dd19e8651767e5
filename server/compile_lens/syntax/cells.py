"""Cells of a script, as editors know them: from one comment ``# %%`` to the next."""

from __future__ import annotations

from msgspec import Struct

from compile_lens.syntax.comment_runs import CELL_MARKER
from compile_lens.syntax.tree import Query, SourceTree

_COMMENTS = Query("(comment) @comment")


class Cell(Struct, frozen=True):
    """Lines from 1, the last included. ``number`` counts from 1."""

    number: int
    first_line: int
    last_line: int


def find_cells(tree: SourceTree) -> tuple[Cell, ...]:
    """The cells of a file; none if no comment marks one. Code before the first mark is a cell, too."""
    starts = sorted(
        tree.position(node.start_byte)[0]
        for node in _COMMENTS.everywhere(tree).get("comment", [])
        if tree.position(node.start_byte)[1] == 1 and CELL_MARKER.match(tree.node_text(node))
    )
    if not starts:
        return ()
    lines = tree.lines
    if any(line.strip() for line in lines[: starts[0] - 1]):
        starts.insert(0, 1)
    ends = [*(start - 1 for start in starts[1:]), max(line_count(tree), starts[-1])]
    return tuple(Cell(number, *lines_of) for number, lines_of in enumerate(zip(starts, ends, strict=True), 1))


def line_count(tree: SourceTree) -> int:
    """The lines of a file; text after the last newline counts if it is not empty."""
    return len(tree.lines) - (tree.lines[-1] == "")


def up_to(tree: SourceTree, line: int) -> str:
    """The first ``line`` lines of a file."""
    end = tree.line_starts[line] if line < len(tree.line_starts) else len(tree.source)
    return tree.source[:end].decode()
