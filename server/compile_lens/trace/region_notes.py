"""Reads the agent's notes about regions: where they are, under which stance they were called, and which frames Dynamo skipped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from compile_lens.trace.records import Record, read_note
from compile_lens.trace.report import RegionCall, Skip


class RegionNotes:
    """Collects them, in the order of the run."""

    def __init__(self) -> None:
        self.regions: list[RegionCall] = []
        self.skips: list[Skip] = []
        self.readers: dict[str, Callable[[Record], None]] = {
            "compile_lens_region": self._on_region,
            "compile_lens_inlined": self._on_event,
            "compile_lens_called": self._on_event,
            "compile_lens_skip": self._on_skip,
        }

    def _on_region(self, record: Record) -> None:
        note = read_note(record)
        target = note["target"] or {}
        self.regions.append(
            RegionCall(
                note["region"],
                note["file"],
                note["line"],
                note["name"],
                target.get("file"),
                target.get("line"),
                note.get("fullgraph"),
                note.get("column"),
                disabled=note.get("disabled", ""),
            )
        )

    def _on_event(self, record: Record) -> None:
        """It was called under a stance, or compiled as part of another region."""
        note = read_note(record)
        stances = (note["stance"],) if "stance" in note else ()
        for i, call in enumerate(self.regions):
            if call.region == note["region"]:
                self.regions[i] = replace(call, inlined=call.inlined or not stances, stances=call.stances + stances)

    def _on_skip(self, record: Record) -> None:
        note = read_note(record)
        self.skips.append(Skip(note["region"], note["file"], note["line"], note["name"], note["reason"]))
