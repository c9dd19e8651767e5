"""Reads the agent's calls of regions with other inputs, each with a report of its own.

What stands between the note ``reset`` or ``again`` and the note ``over`` is no part of the program's own run.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from compile_lens.trace.report import CompileReport, Variation, VariationEffect, VariedCall

if TYPE_CHECKING:
    from compile_lens.trace.records import Record

NOTE = "compile_lens_variation"


class _Apart(Struct):
    """The reader of what is going on apart from the program, and what it knew when the call of now began."""

    add: Callable[[Record | None], bool]
    report: Callable[[], CompileReport]
    before: CompileReport


Reader = tuple[Callable[["Record | None"], bool], Callable[[], CompileReport]]


class Variations:
    """Takes the records that belong to them.

    ``reader`` makes a reader of a trace that begins: its ``add`` and its ``report``; ``sequel``, one that knows what the program's own
    run has told so far.
    """

    def __init__(self, reader: Callable[[], Reader], sequel: Callable[[], Reader]) -> None:
        self._reader = reader
        self._sequel = sequel
        self._apart: _Apart | None = None
        self._found: dict[tuple[int, str], Variation] = {}
        self._skipped: list[Variation] = []

    def found(self) -> tuple[Variation, ...]:
        """All so far, in their order."""
        return (*self._skipped, *self._found.values())

    def take(self, record: Record | None) -> bool | None:
        """Take a record if it belongs here; None if not, else whether findings may have changed."""
        if record is not None and record.kind == NOTE:
            return self._on_note(json.loads((record.payload.text() if record.payload else None) or ""))
        if self._apart is None:
            return None
        self._apart.add(record)
        return False

    def _on_note(self, note: dict[str, Any]) -> bool:
        what = note["what"]
        if what == "over":
            self._apart = None
        elif what in ("reset", "again"):
            add, report = self._reader() if what == "reset" else self._sequel()
            self._apart = _Apart(add, report, report())
        elif what == "call" and self._apart is not None:
            self._apart.before = self._apart.report()
        elif what == "called" and self._apart is not None:
            before, after = self._apart.before, self._apart.report()
            known = {compilation.compile_id for compilation in before.compilations}
            new = tuple(c for c in after.compilations if c.compile_id not in known)
            call = VariedCall(replace(after, compilations=new), before, note.get("type", ""), note.get("message", ""))
            one = self._variation(note, VariationEffect.CALLED)
            self._found[one.region, one.phrase] = replace(one, calls=(*one.calls, call))
            return True
        elif what in (VariationEffect.REJECTED, VariationEffect.LEFT):
            one = self._variation(note, VariationEffect(what))
            self._found[one.region, one.phrase] = one
            return True
        elif what == VariationEffect.SKIPPED:
            self._skipped.append(self._variation({"kind": "", "phrase": "", **note}, VariationEffect.SKIPPED))
            return True
        return False

    def _variation(self, note: dict[str, Any], effect: VariationEffect) -> Variation:
        made = Variation(
            note["region"],
            note["name"],
            note["kind"],
            note["phrase"],
            effect,
            note.get("type", ""),
            note.get("message", ""),
            is_usual=note.get("usual", False),
        )
        return self._found.get((made.region, made.phrase), made)
