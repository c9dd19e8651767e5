"""Converts positions between editors (UTF-16, UTF-8) and findings (lines and code points).

An editor counts lines and characters from 0, characters in units of the encoding that was agreed on; only ``\\n``,
``\\r\\n`` and ``\\r`` end a line (LSP 3.17, "Text Documents"). ``str.splitlines`` ends lines at form feeds and seven
other characters too, so it is used only for texts that have none of them. A finding counts lines and code points from
1.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from enum import Enum
from itertools import accumulate

from compile_lens.late_pattern import pattern

_LINE_END = pattern(r"\r\n|\n|\r")
# what ends a line for str.splitlines, but for no editor
_FALSE_LINE_END = pattern("[\v\f\x1c-\x1e\x85\u2028\u2029]")


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

    __slots__ = ("_ascii", "_starts", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._ascii = text.isascii()
        self._starts = _line_starts(text)

    def edited(self, start: int, end: int, added: str) -> LineIndex:
        """The index of the text with ``added`` in the place of ``text[start:end]``. Only the lines around it are looked at."""
        text, shift = self.text[:start] + added + self.text[end:], len(added) - (end - start)
        # a line more on each side: the edit may join a \r and a \n, or take them apart
        first, after = max(self.line_at(start) - 1, 0), self.line_at(end) + 2
        begins = self._starts[first]
        is_last = after >= len(self._starts)
        stop = len(text) if is_last else self._starts[after] + shift
        around = [begins + offset for offset in _line_starts(text[begins:stop])]
        if not is_last:
            around.pop()  # where the next line begins
        index = LineIndex.__new__(LineIndex)
        index.text = text
        index._ascii = text.isascii()
        tail = self._starts[after:]
        index._starts = [*self._starts[:first], *around, *([offset + shift for offset in tail] if shift else tail)]
        return index

    @property
    def line_count(self) -> int:
        """At least 1: an empty text has one empty line."""
        return len(self._starts)

    def line(self, number: int) -> str:
        """The text of a line (from 0) without what ends it; '' outside the text."""
        if not 0 <= number < len(self._starts):
            return ""
        return self.text[self._starts[number] : self._line_end(number)]

    def line_at(self, offset: int) -> int:
        """The line (from 0) in which the code point at ``offset`` stands."""
        return bisect_right(self._starts, max(offset, 0)) - 1

    def offset(self, position: Position, encoding: Encoding) -> int:
        """The number of code points before ``position``."""
        if position.line < 0:
            return 0
        if position.line >= len(self._starts):
            return len(self.text)
        start = self._starts[position.line]
        return start + self._code_points(self.line(position.line), position.character, encoding)

    def position(self, offset: int, encoding: Encoding) -> Position:
        """The position before which ``offset`` code points stand."""
        offset = min(max(offset, 0), len(self.text))
        line = self.line_at(offset)
        start = self._starts[line]
        end = min(offset, self._line_end(line))
        return Position(line, self._units(self.text[start:end], encoding))

    def point(self, position: Position, encoding: Encoding) -> tuple[int, int]:
        """Line and column from 1, in code points."""
        offset = self.offset(position, encoding)
        line = self.line_at(offset)
        return line + 1, offset - self._starts[line] + 1

    def position_of(self, line: int, column: int, encoding: Encoding) -> Position:
        """The position of a line and column that count from 1, in code points."""
        if line < 1:
            return Position(0, 0)
        if line > len(self._starts):
            return self.position(len(self.text), encoding)
        text = self.line(line - 1)
        return Position(line - 1, self._units(text[: max(column - 1, 0)], encoding))

    def _line_end(self, number: int) -> int:
        """The offset at which the line's own text ends, before what ends the line."""
        if number + 1 == len(self._starts):
            return len(self.text)
        end = self._starts[number + 1] - 1
        if self.text[end] == "\n" and end > self._starts[number] and self.text[end - 1] == "\r":
            end -= 1
        return end

    def _units(self, text: str, encoding: Encoding) -> int:
        if self._ascii or encoding is Encoding.UTF32 or text.isascii():
            return len(text)
        codec, width = _CODEC[encoding]
        return len(text.encode(codec, "surrogatepass")) // width

    def _code_points(self, line: str, units: int, encoding: Encoding) -> int:
        """How many whole characters of ``line`` fit into ``units``; a position inside a character is before it."""
        if units <= 0:
            return 0
        if self._ascii or encoding is Encoding.UTF32 or line.isascii():
            return min(units, len(line))
        # every character takes at least one unit, so the answer is among these
        head = line[:units]
        if self._units(head, encoding) <= units:
            return len(head)
        return bisect_right(range(len(head) + 1), units, key=lambda count: self._units(head[:count], encoding)) - 1


def _line_starts(text: str) -> list[int]:
    if _FALSE_LINE_END.search(text) is None:
        lines = text.splitlines(keepends=True)
        starts = [0, *accumulate(map(len, lines))]
        if lines and lines[-1][-1] not in "\r\n":
            starts.pop()
        return starts
    return [0, *(match.end() for match in _LINE_END.finditer(text))]
