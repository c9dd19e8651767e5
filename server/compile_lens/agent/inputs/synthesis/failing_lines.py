"""The source lines that raised an error, and the names in them."""

from __future__ import annotations

import linecache
import re
import traceback
from collections.abc import Iterator
from types import FrameType, TracebackType

_MOST_LINES = 12


def failing_line(error: BaseException) -> str:
    """The source that raised, of the innermost frame that has one."""
    return next(failing_lines(error), "")


def failing_lines(error: BaseException) -> Iterator[str]:
    """The source of what the frames were doing, of the innermost one first."""
    return filter(None, map(source_of, reversed(traceback.extract_tb(error.__traceback__)[-12:])))


def innermost(error: BaseException) -> tuple[FrameType | None, int]:
    """The frame that raised, and its line."""
    entry: TracebackType | None = error.__traceback__
    while entry is not None and entry.tb_next is not None:
        entry = entry.tb_next
    return (None, 0) if entry is None else (entry.tb_frame, entry.tb_lineno)


def failing_place(error: BaseException) -> tuple[str, int]:
    """The file and the line of the innermost frame."""
    frames = traceback.extract_tb(error.__traceback__)
    return (frames[-1].filename, frames[-1].lineno or 0) if frames else ("", 0)


def source_of(frame: traceback.FrameSummary) -> str:
    """The source of what ``frame`` was doing, in one line: a call may stand in several (Python 3.11 tells where it ends)."""
    last = getattr(frame, "end_lineno", None) or frame.lineno or 0
    following = range((frame.lineno or 0) + 1, min(last, (frame.lineno or 0) + _MOST_LINES) + 1)
    more = (linecache.getline(frame.filename, number).strip() for number in following)
    return " ".join(filter(None, (frame.line, *more)))


def names_in_failing_lines(error: BaseException) -> list[str]:
    """The names in the source lines that raised, innermost first: one of them may be the parameter that is None.

    What is kept as `self._width` most often comes from a parameter `width`.
    """
    found: list[str] = []
    for frame in reversed(traceback.extract_tb(error.__traceback__)[-12:]):
        if "_compile_lens" not in frame.filename:
            for name in re.findall(r"[A-Za-z_]\w*", source_of(frame)):
                found += dict.fromkeys((name, name.strip("_") or name))
    return list(dict.fromkeys(found))[:40]


def keys_in_failing_line(error: BaseException, written: re.Pattern[str]) -> list[str]:
    """The texts that the innermost line looks something up by: those that ``written`` finds, and constants, as in `table[START]`."""
    line = failing_line(error)
    found = [next(filter(None, groups), "") for groups in written.findall(line)]
    frame, _ = innermost(error)
    names = frame.f_globals if frame is not None else {}
    constants = (names.get(name) for name in re.findall(r"\[\s*([A-Za-z_]\w*)\s*\]", line))
    return [*filter(None, found), *(each for each in constants if isinstance(each, str))]
