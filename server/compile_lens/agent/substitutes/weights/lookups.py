"""What was not there, and what stands in for it: one note for the user's outermost call that asked for it."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

from ...instrument.trace_sink import write_note
from ...runtime.missing_requirement import is_lack
from ..notes import Told
from .handled_errors import is_handled

NOTE = "compile_lens_absent"
LONGEST_REASON = 300
CONFIGURATION = "configuration"


class Calls:
    """Follows calls that look for something: one of them makes others, and only the user's own is told of."""

    def __init__(self, told: Told) -> None:
        self._told = told
        self.depth = 0  # how many calls are under way, one in another
        self._found: list[dict[str, Any]] = []
        self._written: set[tuple[str, str, int]] = set()

    @contextlib.contextmanager
    def asking(self, kind: str) -> Iterator[None]:
        """Around a call for a thing of ``kind``. When the outermost one has come to its end, what was made up in it is told.

        A configuration that was made up on the way to something else is no news: what was made from it says so.
        """
        self.depth += 1
        try:
            yield
            if self.depth == 1:
                for note in self._found:
                    if note["what"] == kind or note["what"] != CONFIGURATION:
                        self.tell(note)
        finally:
            self.depth -= 1
            if self.depth == 0:
                self._found.clear()

    def made_up(self, what: str, **facts: Any) -> None:
        """Something of the kind ``what`` stands in now, in the call that is under way."""
        frame = sys._getframe(1)
        self._found.append({"what": what, **facts, "stack": self.stack(frame)})

    def may_stand_in(self, error: BaseException) -> bool:
        """Whether something may stand in for what ``error`` says not to be there: not if the program deals with that itself."""
        return not is_handled(error, self.stack(sys._getframe(1)))

    def stack(self, frame: FrameType) -> list[dict[str, Any]]:
        """The user's part of the stack that ends in ``frame``."""
        return self._told.stack(frame)

    def tell(self, note: dict[str, Any]) -> None:
        """Write ``note``, once for each line."""
        last: dict[str, Any] = note["stack"][-1] if note["stack"] else {"file": "", "line": 0}
        key = (str(note["what"]), str(last["file"]), int(last["line"]))
        if key not in self._written:
            self._written.add(key)
            with contextlib.suppress(Exception):
                write_note(NOTE, note)


def reason(error: BaseException) -> str:
    """The first line of what ``error`` says of what is not there; nothing for one that is about something else."""
    if not is_lack(error):
        return ""
    first = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
    return first[:LONGEST_REASON]
