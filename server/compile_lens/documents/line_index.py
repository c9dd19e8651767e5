"""Converts positions between editors (UTF-16, UTF-8) and findings (lines and code points).

An editor counts lines and characters from 0, characters in units of the encoding that was agreed on; only ``\\n``,
``\\r\\n`` and ``\\r`` end a line (LSP 3.17, "Text Documents"). ``str.splitlines`` ends lines at form feeds and seven
other characters too, so it is used only for texts that have none of them. A finding counts lines and code points from
1.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import accumulate
from typing import TypeVar

from compile_lens.documents.pieces import Piece, pieces_of

T = TypeVar("T")


class Encoding(str, Enum):
    """The unit in which an editor counts characters."""

    UTF8 = "utf-8"
    UTF16 = "utf-16"
    UTF32 = "utf-32"


# the codec, and the bytes of one unit
_CODEC = {Encoding.UTF8: ("utf-8", 1), Encoding.UTF16: ("utf-16-le", 2)}


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place between two characters: line and character from 0, the character in units of an ``Encoding``."""

    line: int
    character: int


class LineIndex:
    """The lines of one text. Positions that lie outside are moved to the nearest one inside, as LSP asks."""

    __slots__ = ("_first_lines", "_offsets", "_pieces", "_text")

    def __init__(self, text: str) -> None:
        self._set(pieces_of(text))
        self._text: str | None = text

    def _set(self, pieces: list[Piece]) -> None:
        self._pieces = pieces
        # where each piece begins, and where the last one ends
        self._offsets = [0, *accumulate(len(piece.text) for piece in pieces)]
        self._first_lines = [0, *accumulate(piece.line_ends for piece in pieces)]

    def edited(self, start: int, end: int, added: str) -> LineIndex:
        """The index of the text with ``added`` in the place of the code points from ``start`` to ``end``.

        Only the pieces around the edit are read. They include a character on each side, since it may join a \\r and a \\n.
        """
        first, last = self._piece_at(max(start - 1, 0)), self._piece_at(end)
        begin = self._offsets[first]
        around = self._joined(first, last)
        changed = pieces_of(around[: start - begin] + added + around[end - begin :])
        index = LineIndex.__new__(LineIndex)
        index._set([*self._pieces[:first], *changed, *self._pieces[last + 1 :]])
        index._text = None
        return index

    @property
    def text(self) -> str:
        """The whole text. Putting it together takes time that grows with it, once."""
        if self._text is None:
            self._text = self._joined(0, len(self._pieces) - 1)
        return self._text

    @property
    def length(self) -> int:
        """The number of code points of the text."""
        return self._offsets[-1]

    @property
    def line_count(self) -> int:
        """At least 1: an empty text has one empty line."""
        return self._first_lines[-1] + 1

    def between(self, start: int, end: int) -> str:
        """The code points from ``start`` to ``end``, as far as there are any."""
        start, end = max(start, 0), max(end, 0)
        first = self._piece_at(start)
        begin = self._offsets[first]
        return self._joined(first, self._piece_at(end))[start - begin : max(end - begin, 0)]

    def read_by_pieces(self, reader: Callable[[str], T]) -> Iterator[tuple[int, T]]:
        """What ``reader`` makes of each piece, with the offset of the piece. One that no edit touches is read once."""
        for offset, piece in zip(self._offsets, self._pieces, strict=False):
            yield offset, piece.read(reader)

    def line(self, number: int) -> str:
        """The text of a line (from 0) without what ends it; '' outside the text."""
        if not 0 <= number < self.line_count:
            return ""
        piece, start, end = self._span(number)
        return self._pieces[piece].text[start:end]

    def line_at(self, offset: int) -> int:
        """The line (from 0) in which the code point at ``offset`` stands."""
        offset = max(offset, 0)
        piece = self._piece_at(offset)
        return self._first_lines[piece] + bisect_right(self._pieces[piece].starts, offset - self._offsets[piece]) - 1

    def offset(self, position: Position, encoding: Encoding) -> int:
        """The number of code points before ``position``."""
        if position.line < 0:
            return 0
        if position.line >= self.line_count:
            return self.length
        return self._start(position.line) + self._code_points(self.line(position.line), position.character, encoding)

    def position(self, offset: int, encoding: Encoding) -> Position:
        """The position before which ``offset`` code points stand."""
        offset = min(max(offset, 0), self.length)
        line = self.line_at(offset)
        return Position(line, self._units(self.line(line)[: offset - self._start(line)], encoding))

    def point(self, position: Position, encoding: Encoding) -> tuple[int, int]:
        """Line and column from 1, in code points."""
        offset = self.offset(position, encoding)
        line = self.line_at(offset)
        return line + 1, offset - self._start(line) + 1

    def position_of(self, line: int, column: int, encoding: Encoding) -> Position:
        """The position of a line and column that count from 1, in code points."""
        if line < 1:
            return Position(0, 0)
        if line > self.line_count:
            return self.position(self.length, encoding)
        text = self.line(line - 1)
        return Position(line - 1, self._units(text[: max(column - 1, 0)], encoding))

    def _piece_at(self, offset: int) -> int:
        """The piece in which the code point at ``offset`` stands."""
        return bisect_right(self._offsets, offset, 0, len(self._pieces)) - 1

    def _joined(self, first: int, last: int) -> str:
        return "".join(piece.text for piece in self._pieces[first : last + 1])

    def _start(self, number: int) -> int:
        """The offset at which a line begins."""
        piece, start, _ = self._span(number)
        return self._offsets[piece] + start

    def _span(self, number: int) -> tuple[int, int, int]:
        """The piece that a line is in, and where the line's own text begins and ends in it, before what ends the line."""
        at = bisect_right(self._first_lines, number, 0, len(self._pieces)) - 1
        text, starts, line = self._pieces[at].text, self._pieces[at].starts, number - self._first_lines[at]
        if line + 1 == len(starts):
            return at, starts[line], len(text)
        end = starts[line + 1] - 1
        if text[end] == "\n" and end > starts[line] and text[end - 1] == "\r":
            end -= 1
        return at, starts[line], end

    def _units(self, text: str, encoding: Encoding) -> int:
        if encoding is Encoding.UTF32 or text.isascii():
            return len(text)
        codec, width = _CODEC[encoding]
        return len(text.encode(codec, "surrogatepass")) // width

    def _code_points(self, line: str, units: int, encoding: Encoding) -> int:
        """How many whole characters of ``line`` fit into ``units``; a position inside a character is before it."""
        if units <= 0:
            return 0
        if encoding is Encoding.UTF32 or line.isascii():
            return min(units, len(line))
        # every character takes at least one unit, so the answer is among these
        head = line[:units]
        if self._units(head, encoding) <= units:
            return len(head)
        return bisect_right(range(len(head) + 1), units, key=lambda count: self._units(head[:count], encoding)) - 1
