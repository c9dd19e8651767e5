"""What is told of the device that stands in: a note for each line of the user's that asked for something of it."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

from ..instrument.stacks import live_stack
from ..instrument.trace_sink import write_note

NOTE = "compile_lens_stand_in"
MOST_NOTES = 200


class Told:
    """Writes notes, one for each line and word. ``libraries`` are folders whose code is none of the user's."""

    def __init__(self, own_folder: str, libraries: list[str]) -> None:
        import torch

        self._libraries = (own_folder, "<frozen", *libraries)
        self._torch_folder = str(torch.__path__[0])
        # through these a program reaches what asks: torch.cuda.is_available → torch._C
        self._ways = tuple(
            f"{self._torch_folder}/{name}" for name in ("cuda/", "accelerator/", "_utils.py", "distributed/")
        )
        self._own_folder = own_folder
        self._written: set[tuple[str, str, int]] = set()

    def used(self, text: str = "") -> None:
        """The device is used for the first time, by whatever the user's code has called."""
        if not any(word == "device" for word, _, _ in self._written):
            self._write("device", text, sys._getframe(1))

    def asked(self, word: str, text: str = "") -> None:
        """The user's own code asks for what only a GPU can say. What torch asks for itself is not worth a note."""
        caller = next(self._outside((self._own_folder, *self._ways)), None)
        if caller is not None and not caller.f_code.co_filename.startswith(self._torch_folder):
            self._write(word, text, caller)

    def happened(self, word: str, text: str = "") -> None:
        """Something cannot be done here: at the user's line that led to it."""
        self._write(word, text, sys._getframe(1))

    def _outside(self, folders: tuple[str, ...]) -> Iterator[FrameType]:
        frame: FrameType | None = sys._getframe(2)
        while frame is not None:
            if not frame.f_code.co_filename.startswith(folders):
                yield frame
            frame = frame.f_back

    def _write(self, word: str, text: str, start: FrameType) -> None:
        with contextlib.suppress(Exception):
            stack = self.stack(start)
            line = (stack[-1]["file"], stack[-1]["line"]) if stack else ("", 0)
            if (word, *line) not in self._written and len(self._written) < MOST_NOTES:
                self._written.add((word, *line))
                write_note(NOTE, {"what": word, "text": text, "stack": stack})

    def stack(self, start: FrameType) -> list[dict[str, Any]]:
        """The user's part of the stack that ends in ``start``, as notes tell of one."""
        return [frame for frame in live_stack(start, self._own_folder) if not frame["file"].startswith(self._libraries)]
