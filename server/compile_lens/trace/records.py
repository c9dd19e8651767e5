"""Splits the structured trace into records: one glog-style line whose tail is JSON, then payload lines that begin with a tab.

Source of the form: ``trace_structured`` and ``TorchLogsFormatter`` in torch/_logging/_internal.py (torch 2.6 to 2.13).
A record that is cut or corrupt costs that record alone: it is counted, and reading goes on at the next.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from compile_lens.late_pattern import pattern
from compile_lens.trace.files import TraceError, mapped

# severity, month and day, time, thread or process, file:line, and the JSON
PREFIX = pattern(rb"[VDIWEC]\d{4} \d{2}:\d{2}:\d{2}\.\d+ \S+ [^\]\n]*\] (?=\{)")
WHEN = pattern(rb"V(\d\d)(\d\d) (\d\d):(\d\d):(\d\d)\.(\d{1,6}) ")
# the same up to the first key, which names the kind
KIND = pattern(PREFIX.pattern + rb'\{"(\w+)": ')
# a line of a payload begins with a tab. The literal first character lets the search run at the speed of memory
RECORD_END = pattern(rb"\n(?=[^\t])")
# how much of a trace is in memory at a time
WINDOW = 1 << 24
AROUND = 1 << 16
# most records fit; a longer line is read whole
HEAD = 4096
# what reading raises of a record of another form than this version's, or of a program that writes records of its own
UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError)
ENVELOPE = frozenset(
    {"rank", "frame_id", "frame_compile_id", "attempt", "has_payload", "compiled_autograd_id", "stack"}
)
# known, with nothing that the report needs
KNOWN_AND_UNUSED = frozenset(
    {
        "chromium_event",
        "describe_storage",
        "create_unbacked_symbol",
        "guard_added_fast",
        "expression_created",
        "propagate_real_tensors",
        "evaluate_expression",
        "dump_file",
        "compilation_metrics_runtime",
        "bwd_compilation_metrics_runtime",
        "link",
        "stack",
        "optimize_ddp_split_graph",
        "optimize_ddp_split_child",
        "compiled_autograd_graph",
        "graph_dump",
        "aten_repro",
        "unbacked_symbol_failed",
        "rank",
    }
)
UNUSED = frozenset(kind.encode() for kind in KNOWN_AND_UNUSED - {"stack"})
# the payload is a stage of the compiler
STAGES = frozenset(
    {
        "dynamo_output_graph",
        "dynamo_guards",
        "dynamo_cpp_guards_str",
        "aot_joint_graph",
        "aot_forward_graph",
        "aot_backward_graph",
        "aot_inference_graph",
        "aot_forward_graph_fw_metadata",
        "inductor_pre_grad_graph",
        "inductor_post_grad_graph",
        "inductor_output_code",
    }
)


class Bytes(Protocol):
    """Anything that can be sliced into bytes: ``bytes``, ``TraceBytes``."""

    def __getitem__(self, index: slice, /) -> bytes: ...


class TraceBytes:
    """A trace file, memory-mapped. What was read is given back to the system, so that memory is bounded whatever the size.

    ``intact`` are the places of payloads that were read and are what was written, ``damaged`` those that are not.
    """

    def __init__(self, data: bytes | mmap.mmap) -> None:
        self.mapped = data
        self.intact: set[int] = set()
        self.damaged: set[int] = set()
        self._read = 0

    def __len__(self) -> int:
        return len(self.mapped)

    def __getitem__(self, index: slice, /) -> bytes:
        if self.has_shrunk():
            return b""
        found = self.mapped[index]
        # the system maps what is around a place, too
        self._read += len(found) + AROUND
        if self._read > WINDOW:
            self.release()
        return found

    def has_shrunk(self) -> bool:
        """Whether somebody has made the file shorter: the system would end this process where it reads beyond the end."""
        return isinstance(self.mapped, mmap.mmap) and self.mapped.size() < len(self.mapped)

    def release(self) -> None:
        """Give the pages that were read back. They are read again from the file where they are needed again."""
        self._read = 0
        if isinstance(self.mapped, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
            self.mapped.madvise(mmap.MADV_DONTNEED)


class Payload(Struct, frozen=True):
    """A payload that has not been read: ``data[start:end]`` are its tabbed lines; ``digest`` is the MD5 that the record names."""

    data: Bytes
    start: int
    end: int
    digest: str

    def text(self) -> str | None:
        """The payload, or None if it is not what was written (cut short, or changed)."""
        raw = self.data[self.start : self.end].removesuffix(b"\n")
        # a newline in the payload is followed by the tab of the next line
        content = raw[1:].replace(b"\n\t", b"\n")
        if not self._is_intact(raw, content):
            if isinstance(self.data, TraceBytes):
                self.data.damaged.add(self.start)
            return None
        return content.decode("utf-8", "replace")

    def _is_intact(self, raw: bytes, content: bytes) -> bool:
        known = self.data.intact if isinstance(self.data, TraceBytes) else set()
        if self.start in known:
            return True
        if self.digest:
            found = hashlib.md5(content, usedforsecurity=False).hexdigest() == self.digest
        else:  # every line begins with a tab
            found = not raw or (raw.startswith(b"\t") and raw.count(b"\n") == raw.count(b"\n\t"))
        if found:
            known.add(self.start)
        return found


class Record(Struct, frozen=True):
    """One record. ``kind`` is its JSON key (``dynamo_start``, …), or the artifact's name; ``fields`` is what the key holds.

    ``stack`` is that of whoever wrote it, torch's own frames included, where torch adds one: to records outside of a compilation.
    """

    kind: str
    is_artifact: bool
    fields: Any
    compile_id: str | None
    attempt: int
    rank: int | None
    payload: Payload | None
    stack: Any = None


def parse_record(data: Bytes, start: int, end: int) -> Record | None:
    """The record in ``data[start:end]``, or None if it is none."""
    head = data[start : min(end, start + HEAD)]
    newline = head.find(b"\n")
    if newline < 0 and end > start + HEAD:  # a long line
        head = data[start:end]
        newline = head.find(b"\n")
    whole_line = head if newline < 0 else head[:newline]
    prefix = PREFIX.match(whole_line)
    if prefix is None:
        return None
    try:
        envelope = _decoded(whole_line[prefix.end() :])
    except (ValueError, RecursionError):
        return None
    # `stack` is a record of its own where nothing else names the record
    kinds = [key for key in envelope if key not in ENVELOPE] or [key for key in envelope if key == "stack"]
    if not kinds:
        return None
    kind, fields = kinds[0], envelope[kinds[0]]
    is_artifact = kind == "artifact" and isinstance(fields, dict)
    payload = None
    if "has_payload" in envelope:
        payload = Payload(data, min(start + len(whole_line) + 1, end), end, str(envelope["has_payload"]))
    return Record(
        kind=str(fields.get("name", kind)) if is_artifact else kind,
        is_artifact=is_artifact,
        fields=fields,
        compile_id=_compile_id(envelope),
        attempt=attempt if isinstance(attempt := envelope.get("attempt"), int) else 0,
        rank=rank if isinstance(rank := envelope.get("rank"), int) else None,
        payload=payload,
        stack=envelope.get("stack"),
    )


def _decoded(line: bytes) -> Any:
    """What ``json`` reads from it. Raises ValueError, RecursionError."""
    try:
        return msgspec.json.decode(line)
    except ValueError:  # torch writes more than the standard has: infinity, and halves of surrogate pairs
        return json.loads(line.decode("utf-8", "surrogatepass"))


def _compile_id(envelope: dict[str, Any]) -> str | None:
    """The id as torch prints it (torch/_guards.py, ``CompileId.__str__``): ``0/1``, or ``!2/0/1`` under compiled autograd."""
    autograd, frame, entry = (envelope.get(key) for key in ("compiled_autograd_id", "frame_id", "frame_compile_id"))
    if frame is None:
        return None if autograd is None else f"!{autograd}"
    return f"{frame}/{entry}" if autograd is None else f"!{autograd}/{frame}/{entry}"


# in the place of a record that is intact and of no use
PASSED_OVER = Record("", False, None, None, 0, None, None)


# records
OFTEN_ENOUGH = 64


def iterate(trace: TraceBytes, unused: frozenset[bytes] = UNUSED) -> Iterator[Record | None]:
    """Every record of a whole trace, in order; None in the place of each stretch that is no record.

    Most records of a trace are of ``unused`` kinds: they are known by their first key, and ``PASSED_OVER`` stands for them.
    """
    position, size, data = 0, len(trace), trace.mapped
    for number, end in enumerate(_ends(trace)):
        # a call of the system, dear for each of the many that are passed over; what is parsed is asked for again
        if number % OFTEN_ENOUGH == 0 and trace.has_shrunk():
            return
        line_end = data.find(b"\n", position, end)
        kind = KIND.match(data, position, end)
        if kind is not None and kind[1] in unused and data[line_end - 1 : line_end] == b"}":
            yield PASSED_OVER
        else:
            yield parse_record(trace, position, end)
        position = end
    if position < size:
        yield parse_record(trace, position, size)


def _ends(trace: TraceBytes) -> Iterator[int]:
    """Where records end, the last one left out: at each line that does not begin with a tab."""
    for start in range(0, len(trace), WINDOW):
        if trace.has_shrunk():
            return
        for found in RECORD_END.finditer(trace.mapped, start, min(start + WINDOW + 1, len(trace))):
            yield found.start() + 1
        trace.release()


def duration(trace: TraceBytes) -> float:
    """The seconds between the first and the last record; 0 if one of them has no time."""
    if trace.has_shrunk():
        return 0.0
    data = trace.mapped
    times = [WHEN.match(data, 0)]
    at = len(data)
    while at > 0 and (len(times) < 2 or times[-1] is None) and len(data) - at < WINDOW:
        at = data.rfind(b"\nV", 0, at)
        times.append(WHEN.match(data, at + 1))
    if len(times) < 2 or times[0] is None or times[-1] is None:
        return 0.0
    try:
        first, last = (_moment(found) for found in (times[0], times[-1]))
    except ValueError:  # no such day: it was damaged
        return 0.0
    # no year is written: a run that began before its end has no length here
    return max((last - first).total_seconds(), 0.0)


def _moment(found: re.Match[bytes]) -> datetime:
    month, day, hour, minute, second, fraction = found.groups()
    return datetime(2000, int(month), int(day), int(hour), int(minute), int(second), int(fraction.ljust(6, b"0")))


def opened(path: Path) -> TraceBytes:
    """The bytes of one trace file (``mapped``).

    Raises TraceError, also for a file that holds no record: nothing can be said of the run then, least of all that all is well.
    """
    trace = TraceBytes(mapped(path))
    if not trace.mapped[:1]:
        raise TraceError(f"{path} is empty, so it is not a torch trace.")
    if all(record is None for record in iterate(trace)):
        raise TraceError(f"{path} is not a torch trace. `TORCH_TRACE=DIR` lets a run of torch write one.")
    return trace


def read_json(text: str | None) -> Any:
    """The value of a text of a trace; None if it is no JSON, or nests too deep to be read."""
    try:
        return json.loads(text or "")
    except (ValueError, RecursionError):
        return None


def read_note(record: Record) -> dict[str, Any]:
    """The fields of a note of the agent. Raises ValueError."""
    text = record.payload.text() if record.payload else None
    note = json.loads(text or "")
    if not isinstance(note, dict):
        raise ValueError("a note is not an object")
    return note
