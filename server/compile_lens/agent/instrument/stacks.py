"""Stacks as the host reads them: live frames, tracebacks and Dynamo's user stacks in one form."""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Iterable, Iterator
from traceback import FrameSummary
from types import FrameType
from typing import Any

MAX_FRAMES = 80
Position = tuple[int | None, int | None, int | None]  # end line, start byte, end byte (from 0)
NO_POSITION: Position = (None, None, None)


def live_stack(frame: FrameType | None, skipped: str | tuple[str, ...]) -> list[dict[str, Any]]:
    """The stack that ends in ``frame``, outermost first, without frames of files whose names begin with ``skipped``."""
    users = (f for f in frames_outward(frame) if not f.f_code.co_filename.startswith(skipped))
    entries = [
        _entry(f.f_code.co_filename, f.f_lineno, f.f_code.co_name, _position(f))
        for f in itertools.islice(users, MAX_FRAMES)
    ]
    return entries[::-1]


def summary_stack(frames: Iterable[FrameSummary]) -> list[dict[str, Any]]:
    """The stack of a traceback, or of the code that Dynamo is tracing."""
    return [
        _entry(
            frame.filename,
            frame.lineno or 1,
            frame.name,
            # Python 3.11 and later
            (getattr(frame, "end_lineno", None), getattr(frame, "colno", None), getattr(frame, "end_colno", None)),
        )
        for frame in frames
    ]


def frames_outward(frame: FrameType | None) -> Iterator[FrameType]:
    """``frame`` and its callers, innermost first."""
    while frame is not None:
        yield frame
        frame = frame.f_back


def column_of(frame: FrameType) -> int | None:
    """The column, from 1, where the expression that a live frame evaluates begins; None where Python does not know."""
    start = _position(frame)[1]
    return None if start is None else _column(frame.f_code.co_filename, frame.f_lineno, start)


def _position(frame: FrameType) -> Position:
    """Where the expression that a live frame evaluates begins and ends (``co_positions``, Python 3.11 and later)."""
    positions = getattr(frame.f_code, "co_positions", None)
    if positions is None or frame.f_lasti < 0:
        return NO_POSITION
    _, end_line, start, end = next(itertools.islice(positions(), frame.f_lasti // 2, None), (None,) * 4)
    return (end_line, start, end) if end_line is not None else NO_POSITION


def _entry(file: str, line: int, name: str, position: Position) -> dict[str, Any]:
    """One level of a stack. Columns count code points from 1; ``end_column`` is exclusive and belongs to ``end_line``.

    Dynamo's user stacks have columns but no end line (torch 2.13). The end is then ``end_byte``, from 0, of a line that only the
    syntax tree can tell.
    """
    end_line, start, end = position
    entry: dict[str, Any] = {"file": file, "line": line, "name": name, "text": linecache.getline(file, line).strip()}
    if start is not None and end is not None:
        entry["column"] = _column(file, line, start)
        if end_line is not None:
            entry |= {"end_line": end_line, "end_column": _column(file, end_line, end)}
        else:
            entry["end_byte"] = end
    return entry


def _column(file: str, line: int, byte: int) -> int:
    return len(linecache.getline(file, line).encode()[:byte].decode("utf-8", "ignore")) + 1
