"""Notes about substitutes: one for each user line that depends on something this machine lacks."""

from __future__ import annotations

import sys
from types import FrameType
from typing import TYPE_CHECKING, Any

from ..instrument.stacks import live_stack
from ..instrument.trace_sink import write_note
from ..runtime.libraries import torch_folder

if TYPE_CHECKING:
    from .launcher import Read

NOTE = "compile_lens_stand_in"
MAX_NOTES = 200


class StandInNotes:
    """Writes notes, one for each line and kind. ``libraries`` are folders whose code is excluded from user stacks."""

    def __init__(self, own_folder: str, libraries: tuple[str, ...]) -> None:
        self.own_folder = own_folder
        self._libraries = (own_folder, "<frozen", *libraries)
        self._torch_folder = torch_folder()
        # a user's query passes through these on its way to C++: torch.cuda.is_available → torch._C
        self._passed_through = (
            own_folder,
            *(f"{self._torch_folder}{name}" for name in ("cuda/", "accelerator/", "_utils.py", "distributed/")),
        )
        self._written: set[tuple[str, str, int]] = set()

    def device_used(self) -> None:
        """Note the first use of the emulated device, at the user's line that led to it."""
        if not any(kind == "device" for kind, _, _ in self._written):
            self._write("device", "", sys._getframe(1))

    def queried(self, kind: str) -> None:
        """Note that the user's code asks for something only a GPU knows. Queries by torch itself are left out."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename.startswith(self._passed_through):
            frame = frame.f_back
        if frame is not None and not frame.f_code.co_filename.startswith(self._torch_folder):
            self._write(kind, "", frame)

    def add(self, kind: str, text: str = "") -> None:
        """Note what could not be done here, at the user's line that led to it."""
        self._write(kind, text, sys._getframe(1))

    def add_at(self, kind: str, read: Read) -> None:
        """Note what the text of the program shows before it runs, at its place."""
        stack = {"file": read.file, "line": read.line, "name": "<module>", "text": read.text, "column": read.column}
        self.write(kind, read.name, [{**stack, "end_line": read.line, "end_column": read.end_column}])

    def stack(self, start: FrameType) -> list[dict[str, Any]]:
        """The user's part of the stack that ends in ``start``, in the form of notes."""
        return [frame for frame in live_stack(start, self.own_folder) if not frame["file"].startswith(self._libraries)]

    def _write(self, kind: str, text: str, start: FrameType) -> None:
        self.write(kind, text, self.stack(start))

    def write(self, kind: str, text: str, stack: list[dict[str, Any]]) -> None:
        """Note it at the end of ``stack``, once."""
        line = (stack[-1]["file"], stack[-1]["line"]) if stack else ("", 0)
        if (kind, *line) not in self._written and len(self._written) < MAX_NOTES:
            self._written.add((kind, *line))
            write_note(NOTE, {"what": kind, "text": text, "stack": stack})
