"""Builds a ``CompileReport`` from records as they come."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from compile_lens.trace.break_text import UNTOLD, UNTOLD_RESTART, parse_break, parse_unrecorded
from compile_lens.trace.dynamic_sizes import Specializations, Symbols
from compile_lens.trace.export_records import ExportProblems
from compile_lens.trace.failure_text import head_of, is_same, own_words_of, parse_user_stack
from compile_lens.trace.guard_text import parse_guard_failures
from compile_lens.trace.noted_stack import noted_stack
from compile_lens.trace.open_compilation import OpenCompilation, checked_metrics, costs_of
from compile_lens.trace.option_values import OptionRecords
from compile_lens.trace.recorded_inputs import RecordedInputs
from compile_lens.trace.records import (
    KNOWN_AND_UNUSED,
    PASSED_OVER,
    STAGES,
    UNREADABLE,
    Record,
    duration,
    iterate,
    opened,
    parse_record,
    read_note,
)
from compile_lens.trace.region_notes import RegionNotes, number_or_none
from compile_lens.trace.report import (
    Artifact,
    CompileFailure,
    CompileReport,
    FailedCall,
    GraphBreak,
    Recompile,
    SideEffect,
    StackFrame,
)
from compile_lens.trace.run_notes import RunNotes
from compile_lens.trace.side_effect_text import parse_side_effects
from compile_lens.trace.variations import Variations

LIMIT = ("recompile limit exceeded", "recompile_limit", "cache_size_limit", "recompile limit reached")


class ReportBuilder:
    """Takes records one by one; ``report()`` gives what is known so far, at any time."""

    def __init__(self) -> None:
        self._strings: dict[int, str] = {}
        self._open: dict[str, OpenCompilation] = {}
        # the same by frame, for what one entry tells of another
        self._of_frame: dict[str, dict[str, OpenCompilation]] = {}
        # compilations whose ids were given again: `torch._dynamo.reset()` numbers frames from 0
        self._renumbered: list[OpenCompilation] = []
        # by compile id, and how often numbers began anew: an attempt that is restarted writes them again
        self._side_effects: dict[tuple[str, int], tuple[SideEffect, ...]] = {}
        self._failed_calls: list[FailedCall] = []
        self._exports = ExportProblems(self._stack_entry)
        self._specializations = Specializations(self._stack_entry)
        self._symbols = Symbols()
        self._options = OptionRecords()
        self._artifacts: list[Artifact] = []
        self._inputs = RecordedInputs()
        self._run_notes = RunNotes(noted_stack)
        self._region_notes = RegionNotes()
        self._variations = Variations(_reader, self._sequel)
        self._unknown: Counter[str] = Counter()
        self._records = 0
        self._corrupt = 0
        self._torch = ""
        self._rank: int | None = None
        # the stack of the break that is about to be recorded, and whose it is
        self._noted: tuple[tuple[str | None, int], tuple[StackFrame, ...]] | None = None
        self._readers: dict[str, Callable[[Record], None]] = {
            "str": self._on_string,
            "dynamo_start": self._on_start,
            "compilation_metrics": self._on_metrics,
            "bwd_compilation_metrics": self._on_backward_metrics,
            "torch_version": self._on_version,
            "recompile_reasons": self._on_recompile,
            "dynamo_graph_break_reason": self._on_break,
            "dynamo_error": self._on_error,
            "dynamo_output_graph": self._on_graph,
            "dynamo_side_effects": self._on_side_effects,
            "compile_lens_failed_call": self._on_failed_call,
            "compile_lens_frame": self._on_frame_note,
            "compile_lens_frame_failed": self._on_frame_failed,
            "compile_lens_break": self._on_break_note,
            "compile_lens_stub": self._on_stub_note,
            **self._exports.readers,
            **self._specializations.readers,
            **self._symbols.readers,
            **self._run_notes.readers,
            **self._region_notes.readers,
            **self._inputs.readers,
            "dynamo_cpp_guards_str": self._on_guards,
        }

    def feed(self, data: bytes) -> bool:
        """Take one record's bytes, as an agent sends them. Returns whether findings may have changed."""
        return self.add(parse_record(data, 0, len(data)))

    def add(self, record: Record | None) -> bool:
        """Take one record; None counts as corrupt. Returns whether findings may have changed."""
        self._records += 1
        if record is PASSED_OVER:
            return False
        try:
            belongs_elsewhere = self._variations.take(record)
        except UNREADABLE:
            self._corrupt += 1
            return False
        if belongs_elsewhere is not None:
            return belongs_elsewhere
        if record is None:
            self._corrupt += 1
            return False
        if record.rank is not None:
            self._rank = record.rank
        reader = self._readers.get(record.kind)
        if reader is not None:
            try:
                reader(record)
            except UNREADABLE:
                self._corrupt += 1
                return False
        if record.payload is not None and (record.is_artifact or record.kind in STAGES):
            self._artifacts.append(Artifact(record.kind, record.compile_id, record.attempt, record.payload))
        elif reader is None and record.kind not in KNOWN_AND_UNUSED and record.kind not in STAGES:
            self._unknown[record.kind] += 1
        return reader is not None and record.kind != "str"

    @property
    def _is_noted(self) -> bool:
        """Whether an agent of ours watched the run: it notes the breaks that torch does not record, and ``fullgraph=True``."""
        return bool(self._region_notes.regions) or any(compilation.has_note for compilation in self._open.values())

    def report(self, goes_on: bool = False) -> CompileReport:
        """What the records so far tell. ``goes_on``: more may come, and an error whose frame has not ended may yet be a break."""
        return CompileReport(
            torch=self._torch,
            rank=self._rank,
            compilations=tuple(
                compilation.closed(goes_on) for compilation in (*self._renumbered, *self._open.values())
            ),
            regions=tuple(self._region_notes.regions),
            skips=tuple(self._region_notes.skips),
            side_effects=tuple(effect for effects in self._side_effects.values() for effect in effects),
            failed_calls=tuple(self._failed_calls),
            export_problems=self._exports.found(),
            specializations=self._specializations.found(),
            symbols=self._symbols.found(),
            options=self._options.found(),
            artifacts=tuple(self._artifacts),
            comparisons=tuple(self._run_notes.comparisons),
            log_lines=tuple(self._run_notes.log_lines),
            stand_ins=tuple(self._run_notes.stand_ins),
            missing_resources=tuple(self._run_notes.missing_resources),
            variations=self._variations.found(),
            inputs=self._inputs.found(),
            results=tuple(self._run_notes.results),
            records=self._records,
            unknown=self._unknown.copy(),
            corrupt=self._corrupt,
        )

    def _sequel(self) -> tuple[Callable[[Record | None], bool], Callable[[], CompileReport]]:
        """A reader of its own that knows what this one knows, variations left out."""
        without = Variations(_reader, self._sequel)
        builder = copy.deepcopy(self, {id(self._variations): without})
        return builder.add, builder.report

    def _compilation(self, record: Record) -> OpenCompilation:
        compile_id = record.compile_id or "-"
        found = self._open.get(compile_id)
        if found is None:
            found = self._open[compile_id] = OpenCompilation(compile_id)
            self._of_frame.setdefault(_frame(compile_id), {})[compile_id] = found
        found.attempts = max(found.attempts, record.attempt + 1)
        return found

    def _beginning(self, record: Record) -> OpenCompilation:
        """The compilation that ``record`` begins: a new one, if that of its id has come to its end."""
        known = self._open.get(record.compile_id or "-")
        if known is not None and known.has_ended:
            self._renumbered.append(self._open.pop(known.compile_id))
            del self._of_frame[_frame(known.compile_id)][known.compile_id]
        return self._compilation(record)

    def _text(self, record: Record) -> str:
        text = record.payload.text() if record.payload else None
        if text is None:
            raise ValueError("the payload is corrupt")
        return text

    def _on_string(self, record: Record) -> None:
        text, number = record.fields
        self._strings[int(number)] = str(text)

    def _on_version(self, record: Record) -> None:
        self._torch = str(json.loads(self._text(record))["pytorch_version"])

    def _on_start(self, record: Record) -> None:
        stack = tuple(self._stack_entry(entry) for entry in record.fields["stack"])
        compilation = self._beginning(record)
        compilation.has_started = True
        frame = stack[-1]
        compilation.name, compilation.file, compilation.line = frame.name, frame.file, frame.line
        if not compilation.has_note:
            compilation.call_stack = stack[:-1]

    def _stack_entry(self, entry: dict[str, Any]) -> StackFrame:
        file = entry["filename"]
        return StackFrame(
            file=self._strings.get(file, f"<unknown file {file}>") if isinstance(file, int) else str(file),
            line=int(entry["line"] or 0),
            name=str(entry.get("name") or "<unknown>"),
            text=str(entry.get("loc") or "").strip(),
        )

    def _on_metrics(self, record: Record) -> None:
        fields = checked_metrics(record.fields)
        compilation = self._compilation(record)
        compilation.has_ended = True
        self._options.take(compilation.compile_id, fields)
        compilation.name = fields.get("co_name") or compilation.name
        compilation.file = fields.get("co_filename") or compilation.file
        compilation.line = fields.get("co_firstlineno") or compilation.line
        compilation.seconds = float(fields.get("entire_frame_compile_time_s") or 0.0)
        compilation.ops = fields.get("graph_op_count")
        compilation.costs = costs_of(fields)
        self._torch = self._torch or str(fields.get("pytorch_version") or "")
        compilation.restart_reasons = tuple(sorted(str(reason) for reason in fields.get("restart_reasons") or ()))
        if fields.get("fail_type"):
            self._on_failure(compilation, fields, record.attempt)
        elif UNTOLD_RESTART in compilation.restart_reasons and not compilation.breaks:
            own = StackFrame(compilation.file, compilation.line, compilation.name)
            stack = (*compilation.callers(), own)
            compilation.breaks.append(
                GraphBreak(compilation.compile_id, record.attempt, UNTOLD, own.file, own.line, stack, UNTOLD_RESTART)
            )

    def _on_backward_metrics(self, record: Record) -> None:
        """torch 2.6 ends a frame that is refused with metrics of this kind and no reason: it was to recompile, and never started."""
        compilation = self._compilation(record)
        compilation.backward = costs_of(record.fields)
        if compilation.recompile is not None and not compilation.has_started:
            compilation.hit_limit = "recompile limit reached"

    def _on_failure(self, compilation: OpenCompilation, fields: dict[str, Any], attempt: int) -> None:
        message = str(fields.get("fail_reason") or "")
        limited = any(sign in message.lower() for sign in LIMIT) or fields["fail_type"] == "FailOnRecompileLimitHit"
        if limited and compilation.recompile is not None:
            compilation.hit_limit = message
            self._name_after_siblings(compilation)
        compilation.failure = CompileFailure(
            type=str(fields["fail_type"]),
            message=message,
            file=fields.get("fail_user_frame_filename"),
            line=fields.get("fail_user_frame_lineno"),
            # a strict export has no frame of its own, and its message alone has the user's stack
            stack=parse_user_stack(compilation.failure_text) or parse_user_stack(message),
            traceback=compilation.failure_text,
        )

        if fields["fail_type"] == "Unsupported" and compilation.name and not compilation.breaks and not self._is_noted:
            self._on_unrecorded_break(compilation, compilation.failure, attempt)

    def _on_unrecorded_break(self, compilation: OpenCompilation, failure: CompileFailure, attempt: int) -> None:
        reason = parse_unrecorded(own_words_of(failure.message), self._torch)
        if reason is None:
            return
        own = StackFrame(compilation.file, compilation.line, compilation.name)
        stack = (*compilation.callers(), *(failure.stack or (own,)))
        file, line = failure.file or stack[-1].file, failure.line or stack[-1].line
        compilation.breaks.append(
            GraphBreak(compilation.compile_id, attempt, reason, file, line, stack, failure.message)
        )

    def _name_after_siblings(self, compilation: OpenCompilation) -> None:
        """A frame that is refused is never started, so its record has no name; an earlier entry of the frame has."""
        for other in self._of_frame[_frame(compilation.compile_id)].values():
            if other.name:
                compilation.name = compilation.name or other.name
                compilation.file = compilation.file or other.file
                compilation.line = compilation.line or other.line
                compilation.region = compilation.region if compilation.region is not None else other.region
                compilation.call_stack = compilation.call_stack or other.call_stack

    def _on_recompile(self, record: Record) -> None:
        compilation = self._beginning(record)
        compilation.recompile = Recompile(compilation.compile_id, parse_guard_failures(self._text(record)))
        self._name_after_siblings(compilation)

    def _on_guards(self, record: Record) -> None:
        self._compilation(record).guards = record.payload
        self._inputs.on_guards(record)

    def _on_break(self, record: Record) -> None:
        compilation = self._compilation(record)
        # if its text is damaged, what follows from it must not be taken for an error of the user's call
        compilation.has_lost_break = True
        text = self._text(record)
        compilation.has_lost_break = False
        parsed = parse_break(text)
        noted = self._take_noted(record)
        # a note has the frames that Dynamo traced, with columns; the frame's own note, the callers above them. A text that names no
        # place (a skipped frame's) has the traced frames alone, too.
        stack = noted or parsed.stack
        if noted or parsed.file is None:
            stack = compilation.callers() + stack
        last = stack[-1] if stack else None
        file = parsed.file or (last.file if last else compilation.file)
        line = parsed.line or (last.line if last else compilation.line)
        found = GraphBreak(compilation.compile_id, record.attempt, parsed.reason, file, line, stack, text)
        compilation.breaks.append(found)

    def _take_noted(self, record: Record) -> tuple[StackFrame, ...]:
        noted, self._noted = self._noted, None
        return noted[1] if noted and noted[0] == (record.compile_id, record.attempt) else ()

    def _on_error(self, record: Record) -> None:
        self._compilation(record).failure_text = self._text(record)

    def _on_graph(self, record: Record) -> None:
        self._compilation(record).graphs = 1

    def _on_side_effects(self, record: Record) -> None:
        compile_id = record.compile_id or "-"
        self._side_effects[compile_id, len(self._renumbered)] = parse_side_effects(compile_id, self._text(record))

    def _on_failed_call(self, record: Record) -> None:
        note = read_note(record)
        self._failed_calls.append(
            FailedCall(note["call"], note["type"], note["message"], noted_stack(note["stack"]), note["traceback"])
        )

    def _on_frame_note(self, record: Record) -> None:
        note = read_note(record)
        compilation = self._beginning(record)
        compilation.region = number_or_none(note["region"])
        compilation.call_stack = noted_stack(note["stack"])
        compilation.has_note = True

    def _on_frame_failed(self, record: Record) -> None:
        """The error is that of the frame that failed last; of none, where Dynamo refused a frame before it compiled it."""
        note = read_note(record)
        message = str(note["message"])
        for compilation in reversed(self._open.values()):
            if not compilation.has_ended or compilation.failure is None:
                continue
            same = is_same(compilation.failure.message, message) or not head_of(compilation.failure.message)
            if same and not compilation.fails_call:
                compilation.fails_call = True
                return
            break
        if not note["of_dynamo"]:
            return  # code of the user's raised it, which Dynamo called to look at a value: its traceback says more
        text = f"{note['type']}: {message}"
        self._failed_calls.append(
            FailedCall("", note["type"], message, noted_stack(note["stack"]), text, note["region"])
        )

    def _on_break_note(self, record: Record) -> None:
        note = read_note(record)
        self._noted = ((record.compile_id, record.attempt), noted_stack(note["stack"]))

    def _on_stub_note(self, record: Record) -> None:
        note = read_note(record)
        stack = noted_stack(note["stack"])
        for compilation in self._open.values() if stack else ():
            compilation.forget_stub(stack[-1], str(note["file"]))


def _frame(compile_id: str) -> str:
    return compile_id.rpartition("/")[0]


def _reader() -> tuple[Callable[[Record | None], bool], Callable[[], CompileReport]]:
    builder = ReportBuilder()
    return builder.add, builder.report


def read_report(path: Path) -> CompileReport:
    """The report of one trace file (``.log`` or ``.log.gz``). Raises TraceError."""
    builder = ReportBuilder()
    trace = opened(path)
    for record in iterate(trace):
        builder.add(record)
    # those are counted as corrupt
    trace.damaged.clear()
    return replace(builder.report(), lasted=duration(trace), data=trace)
