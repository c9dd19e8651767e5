"""Cuts a file at a line or at the end of a cell, to run its first part only."""

from __future__ import annotations

from dataclasses import replace

from compile_lens.documents.source_file import FileProblem
from compile_lens.syntax.cells import find_cells, line_count, up_to
from compile_lens.syntax.tree import parse
from compile_lens.workers.job import Job


def up_to_line(job: Job, text: str, line: int) -> Job:
    """``job`` with the lines of ``text`` up to ``line``. Raises FileProblem when there is no such line."""
    tree = parse(text)
    count = line_count(tree)
    if not 1 <= line <= count:
        raise FileProblem(f"{job.file} has no line {line}: it has {count}.")
    return replace(job, text=up_to(tree, line), up_to=line)


def end_of_cell(file: str, text: str, number: int) -> int:
    """The last line of the cell ``number``, from 1. Raises FileProblem when there is no such cell."""
    cells = find_cells(parse(text))
    if not cells:
        raise FileProblem(f"{file} has no cells: a comment that begins with # %% starts one.")
    if not 1 <= number <= len(cells):
        raise FileProblem(f"{file} has no cell {number}: it has {len(cells)}.")
    return cells[number - 1].last_line


def end_of_cell_at(text: str, line: int) -> int:
    """The last line of the cell that ``line`` stands in; ``line`` itself where there are no cells."""
    return next((c.last_line for c in find_cells(parse(text)) if c.first_line <= line <= c.last_line), line)
