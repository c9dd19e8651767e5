"""Single lines of files that a report names, to be shown: a report may name a pipe, or an endless device."""

from __future__ import annotations

import os
from functools import lru_cache

from compile_lens.documents.source_file import source_if_named


def read_line(file: str, line: int) -> str:
    """The line of ``file`` as it is now, from 1; '' where there is none."""
    try:
        state = os.stat(file)  # noqa: PTH116
    except (OSError, ValueError):
        return ""
    lines = _lines(file, state.st_mtime_ns, state.st_size)
    return lines[line - 1] if 0 < line <= len(lines) else ""


@lru_cache(maxsize=256)
def _lines(file: str, changed: int, size: int) -> tuple[str, ...]:
    return tuple((source_if_named(file) or "").split("\n"))
