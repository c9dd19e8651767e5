"""Finds the parts of text that a compiler wrote: functions, kernels, nodes of the scheduler. For outlines and folding.

The text may be megabytes of Python, C++, MLIR, LLVM, PTX, or torch's dump of its IR, so that lines are matched and nothing is parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import Enum

from msgspec import Struct

from compile_lens.late_pattern import pattern

# the shortest part that can be folded
FOLDED_LINES = 2


class PartKind(str, Enum):
    """What a part is."""

    CLASS = "class"
    FUNCTION = "function"
    KERNEL = "kernel"
    NODE = "node"


class OutlinePart(Struct, frozen=True):
    """A part with a name. Lines count from 1; ``depth`` is how many parts it is in."""

    name: str
    kind: PartKind
    first_line: int
    last_line: int
    depth: int = 0


_KERNEL = pattern(r"^(\w+) = async_compile\.\w+\(")
_PYTHON = pattern(r"^(\s*)(?:(class)|(?:async )?def) (\w+)")
_TRIPLE = pattern(r"'''|\"\"\"")
_NODE = pattern(r"^(\w+): (\w*SchedulerNode)\b")
# language → what begins a part there, with its name
_BRACED = {
    "cpp": pattern(r"^(?!\s|#|//|using |namespace |return )[\w:<>*&,\"\s]*?\b(\w+)\s*\([^;]*$"),
    "mlir": pattern(r"^\s*(?:tt|func|llvm)\.func\b.*?@\"?([\w.$]+)"),
    "llvm": pattern(r"^define\b.*?@\"?([\w.$]+)"),
    "ptx": pattern(r"^\s*(?:\.visible )?\.(?:entry|func)\b.*?([A-Za-z_$][\w$]*)\s*\("),
}


def parts_of(text: str, language: str) -> list[OutlinePart]:
    """The parts of ``text`` in the order of their first lines. ``language`` is an editor's name of a language."""
    lines = text.split("\n")
    pattern = _BRACED.get(language)
    if pattern is not None:
        return list(_of_braced(lines, pattern))
    # a dump of the IR has the loops of each node as Python
    nodes = list(_of_nodes(lines))
    return nodes or (list(_of_python(lines)) if language == "python" else [])


def folds_of(text: str, language: str) -> list[tuple[int, int]]:
    """The lines (from 1) that can be folded: each part, and each block of braces in a language that has them."""
    found = {(part.first_line, part.last_line) for part in parts_of(text, language)}
    if language in _BRACED:
        found |= set(_braces(text.split("\n")))
    return sorted((first, last) for first, last in found if last - first + 1 >= FOLDED_LINES)


def _of_python(lines: Sequence[str]) -> Iterator[OutlinePart]:
    """Classes and functions by their indentation, and the kernels that are strings of other languages."""
    open_parts: list[tuple[int, str, PartKind, int]] = []
    found: list[OutlinePart] = []
    last_code = quoted_since = 0
    quote = kernel = ""

    def close(indent: int) -> None:
        while open_parts and open_parts[-1][0] >= indent:
            _, name, kind, first = open_parts.pop()
            found.append(OutlinePart(name, kind, first, max(last_code, first), len(open_parts)))

    for number, line in enumerate(lines, 1):
        if quote:
            last_code = number
            if quote not in line:
                continue
            if kernel:
                found.append(OutlinePart(kernel, PartKind.KERNEL, quoted_since, number))
            quote = kernel = ""
            continue
        stripped = line.lstrip()
        if not stripped or stripped.startswith("#"):
            continue
        # what continues a bracket may begin anywhere
        if stripped[0] not in ")]}":
            close(len(line) - len(stripped))
        begun = _PYTHON.match(line)
        if begun is not None:
            kind = PartKind.CLASS if begun[2] else PartKind.FUNCTION
            open_parts.append((len(begun[1]), begun[3], kind, number))
        last_code = number
        marks = _TRIPLE.findall(line)
        if len(marks) % 2:
            quote, quoted_since = marks[-1], number
            defined = _KERNEL.match(line)
            kernel = defined[1] if defined is not None else ""
    close(0)
    yield from sorted(found, key=lambda part: (part.first_line, part.depth))


def _of_braced(lines: Sequence[str], pattern: re.Pattern[str]) -> Iterator[OutlinePart]:
    blocks = sorted(_braces(lines))
    for number, line in enumerate(lines, 1):
        begun = pattern.match(line)
        if begun is None:
            continue
        # the body may begin some lines below, after the parameters
        body = next(((first, last) for first, last in blocks if number <= first <= number + 64), None)
        if body is not None:
            yield OutlinePart(begun[1], PartKind.FUNCTION, number, body[1])


def _of_nodes(lines: Sequence[str]) -> Iterator[OutlinePart]:
    """Nodes of the scheduler: each goes on up to the next one."""
    starts = [(number, found[1]) for number, line in enumerate(lines, 1) if (found := _NODE.match(line)) is not None]
    ends = [*(following - 1 for following, _ in starts[1:]), len(lines)]
    for (first, name), last in zip(starts, ends, strict=False):
        while last > first and not lines[last - 1].strip():
            last -= 1
        yield OutlinePart(name, PartKind.NODE, first, last)


def _braces(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The lines from each opening brace to the one that closes it."""
    waiting: list[int] = []
    for number, line in enumerate(lines, 1):
        for character in line:
            if character == "{":
                waiting.append(number)
            elif character == "}" and waiting:
                first = waiting.pop()
                if first < number:
                    yield first, number
