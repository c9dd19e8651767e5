"""Reads what torch wrote into this process's trace since the last look."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from compile_lens.agent.runtime.regular_file import open_regular
from compile_lens.analysis.outcome import Outcome
from compile_lens.pipeline.loaded_trace import read_recorded
from compile_lens.state.atomic_file import write_beside
from compile_lens.temporary_folders import temporary_folder
from compile_lens.trace.files import LOG_PATTERNS, TraceError

# names that later records refer to by number are written once, at the first use (torch/_logging/structured.py, intern_string)
INTERNED = b'{"str": '
VERSION = b'"torch_version"'
# bytes: date, time, process, place
LONGEST_HEAD = 4_096


class Recorder:
    """The trace of this process in ``folder``, taken in slices: one for each test."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file: Path | None = None
        self._offset = 0
        self._names: list[bytes] = []

    def take(self, just_my_code: bool = True) -> Outcome | None:
        """What was compiled since the last call; None if nothing was."""
        new = self._new_bytes()
        if not new:
            return None
        with temporary_folder() as folder:
            part = Path(folder, "part.log")
            write_beside(part, b"".join(self._names) + new)
            try:
                return read_recorded(part, just_my_code=just_my_code).outcome
            except TraceError:  # nothing but what is no record yet
                return None
            finally:
                self._names += _interned(new)

    def _new_bytes(self) -> bytes:
        file = self._file or self._find()
        if file is None:
            return b""
        try:
            with open_regular(file) as stream:
                stream.seek(self._offset)
                new = stream.read() or b""
        except OSError:  # a test has taken it away, or put something else in its place
            return b""
        self._offset += len(new)
        return new

    def _find(self) -> Path | None:
        """This process's file: processes that a test starts write beside it. Records name the process (``V1122 10:00:00.1 PID …``)."""
        own = str(os.getpid()).encode()
        for file in sorted(file for pattern in LOG_PATTERNS for file in self._folder.glob(pattern)):
            with contextlib.suppress(OSError), open_regular(file) as stream:
                if stream.readline(LONGEST_HEAD).split()[2:3] == [own]:
                    self._file = file
                    return file
        return None


def _interned(data: bytes) -> list[bytes]:
    """The records in ``data`` that later ones need: interned names with their payload lines, and torch's version."""
    kept: list[bytes] = []
    keeps = False
    for line in data.splitlines(keepends=True):
        if not line.startswith(b"\t"):
            keeps = INTERNED in line or VERSION in line
        if keeps:
            kept.append(line)
    return kept
