"""Maps the lines of an older text to the present one, and back, where a tool has kept the older text."""

from __future__ import annotations

from compile_lens.documents.line_index import LineIndex
from compile_lens.documents.moves import LineEdit, line_edits


class LineMap:
    """Lines count from 1. A line that was changed or removed has no place in the other text."""

    def __init__(self, then: LineIndex, now: LineIndex) -> None:
        same = then is now or then.text == now.text
        found = [] if same else line_edits(then, now, 0, len(then.text), len(now.text))
        self._edits: tuple[LineEdit, ...] = tuple(reversed(found))

    @property
    def has_changed(self) -> bool:
        """Whether any line differs."""
        return bool(self._edits)

    def now(self, line: int) -> int | None:
        """Where a line of the older text is; None if it is gone."""
        shift = 0
        for edit in self._edits:
            if edit.first > line:
                break
            if line < edit.end:
                return None
            shift += edit.shift
        return line + shift

    def then(self, line: int) -> int | None:
        """Where a line of the present text was; None if it is new."""
        shift = 0
        for edit in self._edits:
            first = edit.first + shift
            if first > line:
                break
            if line < first + edit.added:
                return None
            shift += edit.shift
        return line - shift
