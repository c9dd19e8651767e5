"""What a fixture program expects, written under the lines it is about.

::

    if x.sum() > 0:
    #  ^^^^^^^^^^^ GB0170 x3

The carets stand under the expression, one caret per code point; then the code, and how often if more than once. An error that is
about a break has torch's code of it, too: ``higher-order-op-error/GB0059``. An expression
that begins where the ``#`` stands, or before, has its columns in numbers, ``#1-12 run-error``, end exclusive. One that ends on a
later line says after ``to`` where: ``# ^^^^ GB0059 to +2:6`` is column 6, two lines further. Lines that hold an expectation are
not counted: the numbers stay right when one is added. ``# depth: inductor`` on a line of its own, where it is not ``dynamo``;
``# compared``, where what is compiled is compared with eager; ``# varied``, where regions are called again with other inputs.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import unified_diff

EXPECTATION = re.compile(
    r"^(?P<before>\s*# *)(?P<columns>\^+|(?<=#)\d+-\d+) (?P<code>[A-Za-z][\w-]*(?:/GB\d{4})?)"
    r"(?: x(?P<count>\d+))?(?: to \+(?P<lines>\d+):(?P<end>\d+))?$"
)

DEPTH = re.compile(r"^# depth: (?P<depth>\w+)$", re.MULTILINE)
COMPARED = re.compile(r"^# compared$", re.MULTILINE)
VARIED = re.compile(r"^# varied$", re.MULTILINE)


@dataclass(frozen=True, slots=True, order=True)
class Expected:
    """One finding: lines from 1 without the lines that hold expectations, columns from 1 in code points, end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int
    code: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class Annotated:
    """A program with its expectations taken out. ``lines`` are its own; ``counted`` maps a line of the file to one of these."""

    lines: tuple[str, ...]
    counted: dict[int, int]
    expected: tuple[Expected, ...]


def depth_of(text: str) -> str:
    """How far the program is to be compiled."""
    match = DEPTH.search(text)
    return match["depth"] if match else "dynamo"


def is_compared(text: str) -> bool:
    """Whether what is compiled is to be compared with eager."""
    return COMPARED.search(text) is not None


def is_varied(text: str) -> bool:
    """Whether what is compiled is to be called again with other inputs."""
    return VARIED.search(text) is not None


def read(text: str) -> Annotated:
    lines: list[str] = []
    counted: dict[int, int] = {}
    expected: list[Expected] = []
    for number, line in enumerate(text.split("\n"), 1):
        match = EXPECTATION.match(line)
        if match is None:
            lines.append(line)
            counted[number] = len(lines)
            continue
        if match["columns"].startswith("^"):
            column = len(match["before"]) + 1
            end_column = column + len(match["columns"])
        else:
            column, end_column = map(int, match["columns"].split("-"))
        end_line = len(lines) + int(match["lines"] or 0)
        end_column = int(match["end"] or end_column)
        expected.append(Expected(len(lines), column, end_line, end_column, match["code"], int(match["count"] or 1)))
    return Annotated(tuple(lines), counted, tuple(sorted(expected)))


def write(lines: Iterable[str], expected: Iterable[Expected]) -> str:
    """The program with each expectation under its line."""
    by_line: dict[int, list[Expected]] = defaultdict(list)
    for one in sorted(expected):
        by_line[one.line].append(one)
    written: list[str] = []
    for number, line in enumerate(lines, 1):
        written.append(line)
        written.extend(_comment(line, one) for one in by_line[number])
    return "\n".join(written)


def difference(lines: Iterable[str], expected: Iterable[Expected], actual: Iterable[Expected]) -> str:
    """Both as programs, in a unified diff; '' when they are the same."""
    lines = list(lines)
    before, after = write(lines, expected).split("\n"), write(lines, actual).split("\n")
    return "\n".join(unified_diff(before, after, "expected", "found", lineterm="", n=2))


def _comment(line: str, one: Expected) -> str:
    several_lines = one.end_line > one.line
    end_column = len(line) + 1 if several_lines else one.end_column
    if one.column < 2 or end_column <= one.column:
        comment = f"#{one.column}-{end_column}"
    else:
        comment = "#" + " " * (one.column - 2) + "^" * (end_column - one.column)
    comment += f" {one.code}"
    if one.count > 1:
        comment += f" x{one.count}"
    if several_lines:
        comment += f" to +{one.end_line - one.line}:{one.end_column}"
    return comment
