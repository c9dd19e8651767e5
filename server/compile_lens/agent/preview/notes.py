"""What a preview adds to the trace: for which GPU it is, and what is not known without that GPU."""

from __future__ import annotations

import sys
from typing import Any

from ..instrument.stacks import live_stack
from ..instrument.trace_sink import write_note

ABOUT = "compile_lens_gpu_preview"
KERNEL = "compile_lens_gpu_kernel"
DECISION = "compile_lens_gpu_decision"
MAX_NOTES = 200


class PreviewNotes:
    """Writes notes, one for each line and kind. Frames of files below ``not_users`` are left out of stacks."""

    def __init__(self, not_users: tuple[str, ...]) -> None:
        self._not_users = not_users
        self._written: set[tuple[str, str, str, int]] = set()

    def about(self, facts: dict[str, Any]) -> None:
        """For which GPU, with which torch and Triton."""
        write_note(ABOUT, facts)

    def kernel(self, facts: dict[str, Any]) -> None:
        """What is known of a kernel."""
        write_note(KERNEL, facts)

    def value_assumed(self) -> None:
        """The program reads a value that depends on operators that were not run."""
        self.decision("value", "zeros", (), "The values of large tensors are not computed in a preview.")

    def decision(self, what: str, taken: str, others: tuple[str, ...], why: str) -> None:
        """``taken`` was assumed where the GPU decides, or a value. ``others`` are what it may choose instead."""
        stack = live_stack(sys._getframe(1), self._not_users)
        place = (stack[-1]["file"], stack[-1]["line"]) if stack else ("", 0)
        key = (what, taken, *place)
        if key not in self._written and len(self._written) < MAX_NOTES:
            self._written.add(key)
            write_note(DECISION, {"what": what, "taken": taken, "others": list(others), "why": why, "stack": stack})
