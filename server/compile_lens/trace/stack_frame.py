"""A frame of a call stack, as a trace has it."""

from __future__ import annotations

from msgspec import Struct


class StackFrame(Struct, frozen=True):
    """One level of a user stack. ``text`` is the stripped source line ('' if unknown).

    ``column`` and the rest are None if unknown. ``end_byte`` is an end in bytes from 0, if its line is unknown.
    ``caret`` is the span that a traceback underlines, in code points from 0, relative to the stripped line.
    """

    file: str
    line: int
    name: str
    text: str = ""
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None
    end_byte: int | None = None
    caret: tuple[int, int] | None = None
