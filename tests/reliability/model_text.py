"""A document as an editor has it: UTF-16 code units and nothing else. What the server's text is compared with."""

from __future__ import annotations

from dataclasses import dataclass

Position = tuple[int, int]
LINE_ENDS = (b"\n\0", b"\r\0")


@dataclass(slots=True)
class ModelText:
    """``units``: the text in UTF-16, two bytes a unit."""

    units: bytes

    @staticmethod
    def of(text: str) -> ModelText:
        return ModelText(text.encode("utf-16-le", "surrogatepass"))

    @property
    def text(self) -> str:
        return self.units.decode("utf-16-le", "surrogatepass")

    def lines(self) -> list[tuple[int, int]]:
        """Where each line begins and where what ends it begins, in bytes."""
        found, start, at, size = [], 0, 0, len(self.units)
        while at < size:
            unit = self.units[at : at + 2]
            if unit in LINE_ENDS:
                found.append((start, at))
                at += 4 if self.units[at : at + 4] == b"\r\0\n\0" else 2
                start = at
            else:
                at += 2
        return [*found, (start, size)]

    def offset(self, position: Position) -> int:
        """In bytes. Beyond the line: its end; beyond the text: its end; inside a character: before it."""
        line, character = position
        lines = self.lines()
        if line >= len(lines):
            return len(self.units)
        start, end = lines[line]
        at = min(start + 2 * character, end)
        if start < at < end and _is_low(self.units[at : at + 2]) and _is_high(self.units[at - 2 : at]):
            at -= 2
        return at

    def replace(self, start: Position, end: Position, text: str) -> None:
        """An incremental change, as the protocol defines it."""
        first = self.offset(start)
        last = max(first, self.offset(end))
        self.units = self.units[:first] + text.encode("utf-16-le", "surrogatepass") + self.units[last:]


def _is_high(unit: bytes) -> bool:
    return 0xD8 <= unit[1] <= 0xDB


def _is_low(unit: bytes) -> bool:
    return 0xDC <= unit[1] <= 0xDF
