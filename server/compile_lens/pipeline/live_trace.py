"""Reads a trace file while a process still writes it: a record as soon as it is whole, each byte once but for long records."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from compile_lens.agent.runtime.regular_file import open_regular
from compile_lens.late_pattern import pattern
from compile_lens.trace.builder import ReportBuilder
from compile_lens.trace.records import Payload, Record, parse_record
from compile_lens.trace.report import CompileReport

CHUNK = 1 << 22
# read at one look: whoever waits for it can then be interrupted, and the rest comes at the next
LARGEST_LOOK = 1 << 28
# of a record; what goes on without end is passed over (workers/wire.py has the same limit)
LARGEST_RECORD = 1 << 26
# of a record that is not whole yet; what is longer is read again once the file has grown: there may be many files
MOST_HELD = 1 << 20
# a record ends where a line begins that is no payload line
END_OF_RECORD = pattern(rb"\n(?=[^\t])")


@dataclass(frozen=True, slots=True)
class FileBytes:
    """The bytes of a file, read when they are asked for: payloads of a run of days would not fit in memory. None, if it is gone."""

    path: Path

    def __getitem__(self, index: slice, /) -> bytes:
        try:
            with open_regular(self.path) as file:
                file.seek(index.start)
                return file.read(index.stop - index.start)
        except OSError:
            return b""


class LiveTrace:
    """One trace file that grows."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._forget()

    def _forget(self) -> None:
        self._builder = ReportBuilder()
        self._records = 0
        self._held = b""
        self._held_at = 0
        self._passes_over = False
        self._let_go_at = 0

    @property
    def is_trace(self) -> bool:
        """Whether a record has been read: compile workers make files that stay empty."""
        return self._records > 0

    def report(self) -> CompileReport:
        """What the records so far tell."""
        return self._builder.report()

    def read(self, is_over: bool = False) -> bool:
        """Take what has been written since the last call. Returns whether findings may have changed.

        ``is_over``: nobody writes any more, so what is left is a record that was cut short. A file that has become shorter was
        written anew.
        """
        has_news = False
        try:
            size = self.path.stat().st_size
            if size < max(self._held_at + len(self._held), self._let_go_at):
                self._forget()
                has_news = True
            if size == self._let_go_at and size and not is_over:
                return has_news
            with open_regular(self.path) as file:
                file.seek(self._held_at + len(self._held))
                for _ in range(LARGEST_LOOK // CHUNK):
                    if not (new := file.read(CHUNK)):
                        break
                    has_news = self._take(new) or has_news
        except OSError:  # on a mounted file system it may come back
            return has_news
        if self._held and (is_over or self._is_whole(self._held)):
            has_news = self._add(self._held, self._held_at) or has_news
            self._held_at += len(self._held)
            self._held = b""
        self._let_go_at = 0
        if len(self._held) > MOST_HELD:
            self._let_go_at, self._held = self._held_at + len(self._held), b""
        return has_news

    def _take(self, new: bytes) -> bool:
        data, base, start, has_news = self._held + new, self._held_at, 0, False
        # an end takes two bytes, of which the first may have come before
        for end in END_OF_RECORD.finditer(data, max(0, len(self._held) - 1)):
            if not self._passes_over:
                has_news = self._add(data[start : end.end()], base + start) or has_news
            self._passes_over = False
            start = end.end()
        if self._passes_over or len(data) - start > LARGEST_RECORD:
            self._passes_over, start = True, len(data) - 1
        self._held, self._held_at = data[start:], base + start
        return has_news

    def _is_whole(self, data: bytes) -> bool:
        """Whether the last record is all there, though none follows: its payload is the one whose digest it names."""
        if not data.endswith(b"\n"):
            return False
        record = parse_record(data, 0, len(data))
        return record is not None and (record.payload is None or record.payload.text() is not None)

    def _add(self, data: bytes, at: int) -> bool:
        record = parse_record(data, 0, len(data))
        self._records += record is not None
        return self._builder.add(None if record is None else self._with_payload_on_disk(record, at))

    def _with_payload_on_disk(self, record: Record, at: int) -> Record:
        payload = record.payload
        if payload is None:
            return record
        on_disk = Payload(FileBytes(self.path), at + payload.start, at + payload.end, payload.digest)
        return replace(record, payload=on_disk)
