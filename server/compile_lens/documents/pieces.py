"""A text in pieces of whole lines, so that an edit of a long document changes one of them and leaves the others as they are."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import Any, TypeVar

from compile_lens.late_pattern import pattern

T = TypeVar("T")
# characters: a piece has this many at least, if the text does, and twice as many at most, if its last line lets it
SIZE = 1 << 14
_LINE_END = pattern(r"\r\n|\n|\r")
# what ends a line for str.splitlines, but for no editor
_FALSE_LINE_END = pattern("[\v\f\x1c-\x1e\x85\u2028\u2029]")


class Piece:
    """Whole lines of a text; the last piece also has what follows the last line end."""

    __slots__ = ("_kept", "_starts", "line_ends", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = line_starts(text) if "\r" in text else None
        self.line_ends = text.count("\n") if self._starts is None else len(self._starts) - 1
        self._kept: dict[Callable[[str], Any], Any] = {}

    @property
    def starts(self) -> list[int]:
        """Where its lines begin, and where a line begins after its last line end."""
        if self._starts is None:
            self._starts = line_starts(self.text)
        return self._starts

    def read(self, reader: Callable[[str], T]) -> T:
        """What ``reader`` makes of the piece's text, which it is given once."""
        if reader not in self._kept:
            self._kept[reader] = reader(self.text)
        found: T = self._kept[reader]
        return found


def pieces_of(text: str) -> list[Piece]:
    """``text`` in pieces, one at least. A ``\\r\\n`` is never taken apart."""
    found, begin = [], 0
    while len(text) - begin > 2 * SIZE:
        line_end = _LINE_END.search(text, begin + SIZE)
        if line_end is None or line_end.end() == len(text):
            break
        found.append(Piece(text[begin : line_end.end()]))
        begin = line_end.end()
    return [*found, Piece(text[begin:])]


def line_starts(text: str) -> list[int]:
    """The offsets at which the lines of a text begin: only ``\\n``, ``\\r\\n`` and ``\\r`` end one."""
    if _FALSE_LINE_END.search(text) is None:
        lines = text.splitlines(keepends=True)
        starts = [0, *accumulate(map(len, lines))]
        if lines and lines[-1][-1] not in "\r\n":
            starts.pop()
        return starts
    return [0, *(match.end() for match in _LINE_END.finditer(text))]
