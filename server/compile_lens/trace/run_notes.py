"""Reads the agent's notes about the run: comparisons with eager, lines of torch's logs, substitutes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from compile_lens.trace.comparison import Agreement, ComparedValue, Comparison
from compile_lens.trace.records import Record, read_note
from compile_lens.trace.region_results import RegionResult, read_result
from compile_lens.trace.report import (
    LogLine,
    StackFrame,
)
from compile_lens.trace.stack_text import parse_stack
from compile_lens.trace.stand_ins import MissingResource, StandIn

OF_A_VALUE = frozenset({"what", "index", "name", "source", "origin"})


class RunNotes:
    """Collects them, in the order of the run. ``noted_stack`` reads a stack as the agent writes one."""

    def __init__(self, noted_stack: Callable[[list[dict[str, Any]]], tuple[StackFrame, ...]]) -> None:
        self._noted_stack = noted_stack
        self.comparisons: list[Comparison] = []
        self.log_lines: list[LogLine] = []
        self.stand_ins: list[StandIn] = []
        self.missing_resources: list[MissingResource] = []
        self.results: list[RegionResult] = []
        self.readers: dict[str, Callable[[Record], None]] = {
            "compile_lens_comparison": self._on_comparison,
            "compile_lens_log": self._on_log,
            "compile_lens_stand_in": self._on_stand_in,
            "compile_lens_absent": self._on_missing_resource,
            "compile_lens_results": lambda record: self.results.append(read_result(read_note(record))),
        }

    def _on_comparison(self, record: Record) -> None:
        note = read_note(record)
        self.comparisons.append(
            Comparison(
                compile_id=note["compile_id"],
                agreement=Agreement(note["status"]),
                direction=note.get("direction", "forward"),
                call=note.get("call", 0),
                has_reference=bool(note.get("reference")),
                values=tuple(_value(value) for value in note.get("values", ())),
                worse=note.get("worse", 0),
                reason=note.get("reason", ""),
            )
        )

    def _on_log(self, record: Record) -> None:
        note = read_note(record)
        self.log_lines.append(
            LogLine(
                log=note["log"],
                compile_id=record.compile_id,
                text=note["text"],
                origin=parse_stack(note["origin"]),
                stack=self._noted_stack(note["stack"]),
            )
        )

    def _on_stand_in(self, record: Record) -> None:
        note = read_note(record)
        self.stand_ins.append(StandIn(note["what"], note["text"], self._noted_stack(note["stack"])))

    def _on_missing_resource(self, record: Record) -> None:
        note = read_note(record)
        self.missing_resources.append(
            MissingResource(
                what=note["what"],
                name=note["name"],
                replacement=note["made"],
                why=note["why"],
                stack=self._noted_stack(note["stack"]),
                configuration=note.get("configuration", ""),
                origin=note.get("origin", ""),
                changes=tuple((name, before, now) for name, before, now in note.get("changes", ())),
            )
        )


def _value(value: dict[str, Any]) -> ComparedValue:
    return ComparedValue(
        what=value["what"],
        index=value["index"],
        name=value["name"],
        source=value["source"],
        stack=parse_stack(value["origin"]),
        facts={name: fact for name, fact in value.items() if name not in OF_A_VALUE},
    )
