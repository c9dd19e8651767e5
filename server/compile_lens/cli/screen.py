"""Where lines of text are printed: a terminal with styles, or a pipe without."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Protocol

from compile_lens.cli.styled import Styled, cells
from compile_lens.cli.terminal import echo

# a terminal's width where there is none
WIDTH = 80
# what Rich leaves out of each text: bell, backspace, vertical tab, form feed, carriage return
LEFT_OUT = dict.fromkeys((7, 8, 11, 12, 13))
# with one of these, Rich may write styles to what is no terminal
ASKED_FOR_STYLES = ("FORCE_COLOR", "TTY_COMPATIBLE")


class Screen(Protocol):
    """Where lines are printed, with styles or without."""

    @property
    def width(self) -> int:
        """How many columns a line should have at most."""

    def print_line(self, text: Styled | str = "") -> None:
        """Print a line, however long it is."""

    def rule(self, title: str = "") -> None:
        """Print a line across the screen."""

    def print_table(self, headers: Sequence[str], rows: Sequence[Sequence[Styled]]) -> None:
        """Print a table whose columns end at the right."""


class PlainScreen:
    """Prints what Rich's console prints where there is no terminal, in less time than importing that takes."""

    def __init__(self, *, err: bool = False) -> None:
        self._err = err

    @property
    def width(self) -> int:
        """That of the terminal which started the command, if there is one."""
        if (asked := os.environ.get("COLUMNS", "")).isdecimal():
            return int(asked)
        for stream in (sys.__stdin__, sys.__stdout__, sys.__stderr__):
            try:
                return os.get_terminal_size(stream.fileno()).columns or WIDTH  # type: ignore[union-attr]
            except (AttributeError, ValueError, OSError):
                continue
        return WIDTH

    def print_line(self, text: Styled | str = "") -> None:
        """Print a line, however long it is."""
        plain = (text if isinstance(text, str) else text.plain).translate(LEFT_OUT)
        echo("\n".join(map(_expanded, plain.split("\n"))) if "\t" in plain else plain, err=self._err)

    def rule(self, title: str = "") -> None:
        """Print a line across the screen."""
        from compile_lens.cli.safe_console import SafeConsole

        SafeConsole(stderr=self._err).rule(title)

    def print_table(self, headers: Sequence[str], rows: Sequence[Sequence[Styled]]) -> None:
        """Print a table whose columns end at the right."""
        texts = [headers, *([cell.plain for cell in row] for row in rows)]
        widths = [max(map(cells, column)) for column in zip(*texts, strict=True)]
        if sum(widths) + 2 * (len(widths) - 1) > self.width:  # some cells take several lines
            from compile_lens.cli.safe_console import SafeConsole

            SafeConsole(stderr=self._err).print_table(headers, rows)
            return
        for row in texts:
            self.print_line(
                "  ".join(" " * (width - cells(cell)) + cell for cell, width in zip(row, widths, strict=True))
            )


def screen(*, err: bool = False) -> Screen:
    """Where the output of a command goes: with styles if that is a terminal, or if the user asked for them."""
    stream = sys.stderr if err else sys.stdout
    if stream.isatty() or any(os.environ.get(name) for name in ASKED_FOR_STYLES):
        from compile_lens.cli.safe_console import SafeConsole

        return SafeConsole(stderr=err)
    return PlainScreen(err=err)


def _expanded(line: str) -> str:
    """``line`` with spaces in the place of tabs, to each eighth column."""
    parts = line.split("\t")
    found = ""
    for part in parts[:-1]:
        found += part
        found += " " * (8 - cells(found) % 8)
    return found + parts[-1]
