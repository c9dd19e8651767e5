"""Rich's console, whose own styles alone reach the terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import IO, Any, cast

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from compile_lens.cli.styled import Styled
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

    def print_line(self, text: Styled | str = "") -> None:
        """Print a line, however long it is."""
        self.print(rich_text(text), soft_wrap=True)

    def rule(self, title: Any = "", **options: Any) -> None:
        """Print a line across the screen, dim if nothing else is said."""
        super().rule(title, **{"style": "dim", **options})

    def print_table(self, headers: Sequence[str], rows: Sequence[Sequence[Styled]]) -> None:
        """Print a table whose columns end at the right."""
        table = Table(*headers, box=None, pad_edge=False, header_style="bold")
        for column in table.columns:
            column.justify = "right"
        for row in rows:
            table.add_row(*map(rich_text, row))
        self.print(table)


def rich_text(text: Styled | str) -> Text:
    """``text`` as Rich's, with its styles."""
    if isinstance(text, str):
        return Text(text)
    (first, style), *others = text.pieces
    made = Text(first, style=style)
    for piece, of_piece in others:
        made.append(piece, style=of_piece or None)
    return made
