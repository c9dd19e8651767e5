"""Reads the agent's notes about regions: where they are, under which stance they were called, and which frames Dynamo skipped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

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
        target = note["target"]
        self.regions.append(
            RegionCall(
                int(note["region"]),
                str(note["file"]),
                int(note["line"]),
                str(note["name"]),
                str(target["file"]) if target else None,
                int(target["line"]) if target else None,
                note.get("fullgraph"),
                number_or_none(note.get("column")),
                disabled=str(note.get("disabled", "")),
            )
        )

    def _on_event(self, record: Record) -> None:
        """It was called under a stance, or compiled as part of another region."""
        note = read_note(record)
        stances = (str(note["stance"]),) if "stance" in note else ()
        for i, call in enumerate(self.regions):
            if call.region == note["region"]:
                self.regions[i] = replace(call, inlined=call.inlined or not stances, stances=call.stances + stances)

    def _on_skip(self, record: Record) -> None:
        note = read_note(record)
        region, line = number_or_none(note["region"]), int(note["line"])
        self.skips.append(Skip(region, str(note["file"]), line, str(note["name"]), str(note["reason"])))


def number_or_none(value: Any) -> int | None:
    """What a program has written in the place of a number, or nothing. Raises TypeError, ValueError or OverflowError."""
    return None if value is None else int(value)
