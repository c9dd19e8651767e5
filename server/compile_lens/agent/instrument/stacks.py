"""A stack of frames that are being run, in the form in which events tell of one."""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Iterator
from types import FrameType
from typing import Any

MOST_FRAMES = 60


def column_at(file: str, line: int, byte: int) -> int:
    """The column, from 1 and in code points, of a byte of a line."""
    return len(linecache.getline(file, line).encode()[:byte].decode("utf-8", "ignore")) + 1


def live_stack(frame: FrameType, own_folder: str) -> list[dict[str, Any]]:
    """The stack that ends in ``frame``, outermost first, without frames of files in ``own_folder``."""
    return list(_outwards(frame, own_folder))[::-1]


def _outwards(frame: FrameType | None, own_folder: str) -> Iterator[dict[str, Any]]:
    count = 0
    while frame is not None and count < MOST_FRAMES:
        code = frame.f_code
        if not code.co_filename.startswith(own_folder):
            count += 1
            place = {"file": code.co_filename, "line": frame.f_lineno, "name": code.co_name}
            text = linecache.getline(code.co_filename, frame.f_lineno).strip()
            yield {**place, "text": text, **_columns(frame)}
        frame = frame.f_back


def _columns(frame: FrameType) -> dict[str, Any]:
    """Where the expression begins and ends; Python knows since 3.11."""
    positions = getattr(frame.f_code, "co_positions", None)
    if positions is None or frame.f_lasti < 0:
        return {}
    position = next(itertools.islice(positions(), frame.f_lasti // 2, None), (None,) * 4)
    line, end_line, start, end = position
    if line is None or end_line is None or start is None or end is None:
        return {}
    file = frame.f_code.co_filename
    return {
        "column": column_at(file, line, start),
        "end_line": end_line,
        "end_column": column_at(file, end_line, end),
    }
