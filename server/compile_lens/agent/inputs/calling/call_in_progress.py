"""Remembers which call a trial makes, where the process that makes it may crash: the process that it was forked from reads it then."""

from __future__ import annotations

import contextlib
import mmap
from collections.abc import Iterator

_SIZE = 1 << 16
_LENGTH = 4


class CrashedBefore(Exception):
    """The call is not made again: it ended the process that made it."""


class CallInProgress:
    """The text of a call, in memory that forked copies share. ``crashed`` are the texts of calls that are not made again."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _SIZE)
        self.crashed: set[str] = set()

    @contextlib.contextmanager
    def making(self, text: str) -> Iterator[None]:
        """The call ``text`` is made inside. Raises CrashedBefore."""
        if text in self.crashed:
            raise CrashedBefore(f"the call `{text}` ended the process that made it")
        before = self._text()
        self._write(text)
        try:
            yield
        finally:
            self._write(before)

    def crash(self) -> str:
        """The call that a copy made when it ended, which is not made again; '' where it made none."""
        text = self._text()
        if text:
            self.crashed.add(text)
            self._write("")
        return text

    def _text(self) -> str:
        length = int.from_bytes(self._memory[:_LENGTH], "little")
        return self._memory[_LENGTH : _LENGTH + length].decode("utf-8", errors="ignore")

    def _write(self, text: str) -> None:
        data = text.encode("utf-8", errors="ignore")[: _SIZE - _LENGTH]
        self._memory[:_LENGTH] = len(data).to_bytes(_LENGTH, "little")
        self._memory[_LENGTH : _LENGTH + len(data)] = data


# of this process and its copies
in_progress = CallInProgress()
