"""Follows look-ups of weights and data, and writes one note per substitute, for the user's outermost call."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

from ...instrument.trace_sink import write_note
from ...runtime.missing_requirement import is_not_found
from ..notes import StandInNotes
from .handled_errors import is_handled

NOTE = "compile_lens_absent"
LONGEST_REASON = 300
CONFIGURATION = "configuration"


class Lookups:
    """Follows nested calls that look up files; only the user's own call is noted."""

    def __init__(self, notes: StandInNotes) -> None:
        self._notes = notes
        self.depth = 0  # of nested calls
        self._found: list[dict[str, Any]] = []
        self._written: set[tuple[str, str, int]] = set()

    @contextlib.contextmanager
    def lookup(self, kind: str) -> Iterator[None]:
        """Surround a call that looks up a ``kind``. When the outermost call returns, its substitutes are noted.

        A configuration substituted on the way to something else is left out: the note of the model made from it says so.
        """
        self.depth += 1
        try:
            yield
            if self.depth == 1:
                for note in self._found:
                    if note["what"] == kind or note["what"] != CONFIGURATION:
                        self.write(note)
        finally:
            self.depth -= 1
            if self.depth == 0:
                self._found.clear()

    def substituted(self, what: str, **facts: Any) -> None:
        """Record a substitute of the kind ``what`` made in the current call."""
        frame = sys._getframe(1)
        self._found.append({"what": what, **facts, "stack": self.stack(frame)})

    def why_without_configuration(self) -> str | None:
        """Why the current call got another configuration than the one that it looked up; None where it got that one."""
        return next((str(note.get("why", "")) for note in self._found if note["what"] == CONFIGURATION), None)

    def may_substitute(self, error: BaseException) -> bool:
        """Whether to substitute what ``error`` reports as missing: not if the program handles the error itself."""
        return not is_handled(error, self.stack(sys._getframe(1)))

    def stack(self, frame: FrameType) -> list[dict[str, Any]]:
        """The user's part of the stack that ends in ``frame``."""
        return self._notes.stack(frame)

    def write(self, note: dict[str, Any]) -> None:
        """Write ``note``, once per line and kind."""
        last: dict[str, Any] = note["stack"][-1] if note["stack"] else {"file": "", "line": 0}
        key = (str(note["what"]), str(last["file"]), int(last["line"]))
        if key not in self._written:
            self._written.add(key)
            write_note(NOTE, note)


def reason(error: BaseException) -> str:
    """The first line of an error about a missing file; '' for any other error."""
    if not is_not_found(error):
        return ""
    first = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
    return first[:LONGEST_REASON]
