"""Keeps the records of a run as the trace file that torch would have written, without a name in any folder."""

from __future__ import annotations

import mmap
import tempfile

from compile_lens.trace.records import TraceBytes


class KeptTrace:
    """A trace that grows while a run sends its records."""

    def __init__(self) -> None:
        # the map of the file outlives it
        self._file = tempfile.TemporaryFile()  # noqa: SIM115
        self._size = 0

    def add(self, record: bytes) -> None:
        """Take one record, as the agent sends it."""
        self._size += self._file.write(record if record.endswith(b"\n") else record + b"\n")

    def bytes(self) -> TraceBytes:
        """What has been added, memory-mapped; nothing is added after that."""
        with self._file:
            self._file.flush()
            if not self._size:
                return TraceBytes(b"")
            return TraceBytes(mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ))
