"""Makes one program of the cells of a notebook: in their order, line by line, with what only IPython understands blanked.

Each cell begins after a line ``# %%``, so that what knows the cells of a script knows those of a notebook. Columns stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from compile_lens.late_pattern import pattern
from compile_lens.syntax.tree import Query, is_python, parse

MARK = "# %%"
# IPython has it as a builtin
DISPLAY = "display = print"
_USES_DISPLAY = pattern(r"(?<![\w.])display\(")
_STRINGS = Query("(string) @string")
# magics whose body is Python, which runs in the kernel
_PYTHON_BODY = frozenset({"capture", "prun", "time", "timeit"})
_CELL_MAGIC = pattern(r"\s*%%(\w+)")
# `%time x = f()` and the like, with their options
_PYTHON_LINE = pattern(r"(?P<indent>\s*)(?P<magic>%(?:time|timeit|prun)(?:\s+-\w+(?:\s+\d+)?)*\s+)(?P<rest>[^\s-].*)")
_LINE = pattern(r"(?P<indent>\s*)(?:%\w|!|\?|[\w.]+\?{1,2}\s*$)")
_ASSIGNED = pattern(r"(?P<indent>\s*)(?P<names>\w(?:[\w., ]*[\w.,])?)\s*=\s*(?:%\w|!)")
NOTHING = "pass"
LONGEST = 50_000
# whose programs are kept
MOST_CELLS = 2_048


def program_of(cells: Sequence[str]) -> tuple[str, tuple[int, ...]]:
    """The program, and the line (from 0) of each cell's mark: line ``n`` of a cell is ``n + 1`` lines below it."""
    lines = [DISPLAY if any(_USES_DISPLAY.search(cell) for cell in cells) else ""]
    marks = []
    for cell in cells:
        marks.append(len(lines))
        lines += [MARK, *_lines(without_magics(cell))]
    return "\n".join([*lines, ""]), tuple(marks)


def without_magics(cell: str) -> str:
    """``cell`` with magics, shell commands and questions for help replaced by what does nothing, line by line.

    A cell of more than ``LONGEST`` characters is left as it is: whether a line is in a string takes a look at all of it.
    """
    return cell if len(cell) > LONGEST else _without_magics(cell)


# an edit changes one of the cells, and the program is made of all
@lru_cache(maxsize=MOST_CELLS)
def _without_magics(cell: str) -> str:
    lines = _lines(cell)
    first = next((number for number, line in enumerate(lines) if line.strip()), 0)
    magic = _CELL_MAGIC.match(lines[first])
    if magic is not None:
        if magic[1] not in _PYTHON_BODY:
            return "\n" * (len(lines) - 1)
        lines[first] = ""
    elif all(_blanked(line) is None for line in lines) or is_python(cell):
        return cell
    in_strings = _lines_in_strings("\n".join(lines))
    continued = False
    for number, line in enumerate(lines):
        if number in in_strings:
            continue
        blanked = NOTHING if continued else _blanked(line)
        if blanked is not None:
            lines[number] = blanked
            continued = line.rstrip().endswith("\\")
        else:
            continued = False
    return "\n".join(lines)


def _blanked(line: str) -> str | None:
    """The line that takes the place of one for IPython; None if it is Python."""
    if timed := _PYTHON_LINE.match(line):
        # the statement stays in its columns
        return timed["indent"] + f"{NOTHING};".ljust(len(timed["magic"])) + timed["rest"]
    if assigned := _ASSIGNED.match(line):
        return f"{assigned['indent']}{assigned['names']} = None"
    if other := _LINE.match(line):
        return other["indent"] + NOTHING
    return None


def _lines_in_strings(text: str) -> set[int]:
    """The lines (from 0) that begin within a string."""
    return {number for first, last in _strings(text) for number in range(first + 1, last + 1)}


def _strings(text: str) -> Iterator[tuple[int, int]]:
    for node in _STRINGS.captures(parse(text).root).get("string", []):
        yield node.start_point[0], node.end_point[0]


def _lines(text: str) -> list[str]:
    return re.split(r"\r\n|\n|\r", text)
