"""Reads the stacks in notes of the agent, which have columns."""

from __future__ import annotations

from typing import Any

from compile_lens.trace.region_notes import number_or_none
from compile_lens.trace.stack_frame import StackFrame
from compile_lens.trace.stack_text import is_resume


def noted_stack(entries: list[dict[str, Any]]) -> tuple[StackFrame, ...]:
    """The frames of a note, outermost first."""
    return tuple(
        StackFrame(
            file=str(entry["file"]),
            line=int(entry["line"]),
            name=_user_name(str(entry["name"])),
            text=str(entry.get("text", "")),
            column=number_or_none(entry.get("column")),
            end_line=number_or_none(entry.get("end_line")),
            end_column=number_or_none(entry.get("end_column")),
            end_byte=number_or_none(entry.get("end_byte")),
        )
        for entry in entries
    )


def _user_name(name: str) -> str:
    resumed = is_resume(name)
    return resumed[0] if resumed else name
