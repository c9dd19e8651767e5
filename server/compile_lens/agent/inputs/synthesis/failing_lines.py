"""The source lines that raised an error, and the names in them."""

from __future__ import annotations

import linecache
import re
import traceback
from collections.abc import Iterator

_MOST_LINES = 12


def failing_line(error: BaseException) -> str:
    """The source that raised, of the innermost frame that has one."""
    return next(failing_lines(error), "")


def failing_lines(error: BaseException) -> Iterator[str]:
    """The source of what the frames were doing, of the innermost one first."""
    return filter(None, map(_line, reversed(traceback.extract_tb(error.__traceback__)[-12:])))


def failing_place(error: BaseException) -> tuple[str, int]:
    """The file and the line of the innermost frame."""
    frames = traceback.extract_tb(error.__traceback__)
    return (frames[-1].filename, frames[-1].lineno or 0) if frames else ("", 0)


def _line(frame: traceback.FrameSummary) -> str:
    """The source of what ``frame`` was doing, in one line: a call may stand in several (Python 3.11 tells where it ends)."""
    last = getattr(frame, "end_lineno", None) or frame.lineno or 0
    following = range((frame.lineno or 0) + 1, min(last, (frame.lineno or 0) + _MOST_LINES) + 1)
    more = (linecache.getline(frame.filename, number).strip() for number in following)
    return " ".join(filter(None, (frame.line, *more)))


def names_in_failing_lines(error: BaseException) -> list[str]:
    """The names in the source lines that raised, innermost first: one of them may be the parameter that is None."""
    found: list[str] = []
    for frame in reversed(traceback.extract_tb(error.__traceback__)[-12:]):
        if "_compile_lens" not in frame.filename:
            found += re.findall(r"[A-Za-z_]\w*", _line(frame))
    return list(dict.fromkeys(found))[:40]
