"""Rich's console, whose own styles alone reach the terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import IO, Any, cast

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from compile_lens.cli.terminal import is_workflow
from compile_lens.shown_text import visible, without_workflow_commands


class _WorkflowLog:
    """Takes commands out of whole lines: one may be put together from pieces of different styles."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write(without_workflow_commands(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class SafeConsole(Console):
    """Makes the control characters of what it prints visible: a program, a trace or a file name may have put them there."""

    def __init__(self, *, stderr: bool = False, soft_wrap: bool = False) -> None:
        log = cast("IO[str]", _WorkflowLog(sys.stderr if stderr else sys.stdout)) if is_workflow() else None
        super().__init__(file=log, stderr=stderr, soft_wrap=soft_wrap, highlight=False)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments of ``renderable``; whatever is printed comes through here."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)
