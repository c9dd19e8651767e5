"""A change of source text that may help with a finding."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from compile_lens.syntax.tree import Range

_LINE_END = re.compile(r"\r\n|\r|\n")


class FixKind(Enum):
    """What a fix claims."""

    CHANGE = "change"  # its effect can be verified by an analysis
    SKELETON = "skeleton"  # the user has to complete it
    IGNORE = "ignore"  # the user accepts the finding


@dataclass(frozen=True, slots=True)
class Edit:
    """``text`` replaces ``place``; an empty place is an insertion."""

    place: Range
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """One fix. ``rule`` names it for documentation and settings; ``title`` is an imperative without a period.

    ``edits`` do not overlap, and are in the order of the text.
    """

    rule: str
    title: str
    edits: tuple[Edit, ...]
    kind: FixKind = FixKind.CHANGE


def make(rule: str, title: str, *edits: Edit | None, kind: FixKind = FixKind.CHANGE) -> Fix:
    """A fix of those ``edits`` that are needed, each once and in order."""
    needed = dict.fromkeys(edit for edit in edits if edit is not None)
    return Fix(rule, title, tuple(sorted(needed, key=lambda edit: (edit.place.line, edit.place.column))), kind)


def apply_fix(text: str, fix: Fix) -> str:
    """``text`` with the edits of ``fix``; everything else stays byte for byte."""
    starts = [0, *(match.end() for match in _LINE_END.finditer(text))]

    def offset(line: int, column: int) -> int:
        return min((starts[line - 1] if line <= len(starts) else len(text)) + column - 1, len(text))

    pieces: list[str] = []
    done = 0
    for edit in fix.edits:
        start = offset(edit.place.line, edit.place.column)
        pieces += [text[done:start], edit.text]
        done = offset(edit.place.end_line, edit.place.end_column)
    return "".join([*pieces, text[done:]])
