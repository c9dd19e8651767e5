"""Tells which of two failed calls came further: the one that did has more of its arguments right."""

from __future__ import annotations

import dis
import functools
import os
from dataclasses import dataclass
from types import CodeType, TracebackType

from .... import OWN_FOLDER

# how torch calls a module, whatever the module is
_CALLS_OF_MODULES = os.path.join("torch", "nn", "modules", "module.py")


@dataclass(frozen=True, slots=True)
class ExecutedLine:
    """A line of a function that was being executed."""

    code: CodeType
    line: int


def steps_to(error: BaseException) -> tuple[ExecutedLine, ...]:
    """What the program was doing when it raised ``error``, outermost first; frames of this package and torch's calls of modules aside."""
    found: list[ExecutedLine] = []
    entry: TracebackType | None = error.__traceback__
    while entry is not None:
        code = entry.tb_frame.f_code
        if not (code.co_filename.startswith((OWN_FOLDER, "<")) or code.co_filename.endswith(_CALLS_OF_MODULES)):
            found.append(ExecutedLine(code, entry.tb_lineno))
        entry = entry.tb_next
    return tuple(found)


def ends_before(one: tuple[ExecutedLine, ...], other: tuple[ExecutedLine, ...]) -> bool:
    """Whether ``one`` failed earlier in the program than ``other``. False where that cannot be told: in two functions, or in a loop."""
    for here, there in zip(one, other, strict=False):
        if here.code is not there.code:
            return False
        if here.line != there.line:
            lines = sorted((here.line, there.line))
            is_repeated = any(first <= lines[0] and lines[1] <= last for first, last in _loops(here.code))
            return here.line < there.line and not is_repeated
    return False


def comes_further(later: BaseException | None, before: BaseException | None) -> bool:
    """Whether a call that raised ``later`` has come further than the one that raised ``before``."""
    return later is not None and before is not None and ends_before(steps_to(before), steps_to(later))


@functools.lru_cache(maxsize=512)
def _loops(code: CodeType) -> tuple[tuple[int, int], ...]:
    """The first and the last line of each loop in ``code``: of what a jump goes back over."""
    lines: dict[int, int] = {}
    line = code.co_firstlineno
    found: list[tuple[int, int]] = []
    starts = {offset: number for offset, number in dis.findlinestarts(code) if number is not None}
    for instruction in dis.get_instructions(code):
        line = starts.get(instruction.offset, line)
        lines[instruction.offset] = line
        target = instruction.argval if "JUMP" in instruction.opname else None
        if isinstance(target, int) and target < instruction.offset:
            inside = [number for offset, number in lines.items() if offset >= target]
            found.append((min(inside), max(inside)))
    return tuple(found)
