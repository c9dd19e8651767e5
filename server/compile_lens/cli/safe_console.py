"""Rich's console, whose own styles alone reach the terminal."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from compile_lens.shown_text import visible


class SafeConsole(Console):
    """Makes the control characters of what it prints visible: a program, a trace or a file name may have put them there."""

    def __init__(self, *, stderr: bool = False, soft_wrap: bool = False) -> None:
        super().__init__(stderr=stderr, soft_wrap=soft_wrap, highlight=False)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments of ``renderable``; whatever is printed comes through here."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)
