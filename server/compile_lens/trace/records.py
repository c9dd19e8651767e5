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
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from compile_lens.trace.files import TraceError, mapped

# severity, month and day, time, thread or process, file:line, and the JSON
PREFIX = re.compile(rb"[VDIWEC]\d{4} \d{2}:\d{2}:\d{2}\.\d+ \S+ [^\]\n]*\] (?=\{)")
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
    """Anything that can be sliced into bytes: ``bytes``, ``mmap``."""

    def __getitem__(self, index: slice, /) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Payload:
    """A payload that has not been read: ``data[start:end]`` are its tabbed lines; ``digest`` is the MD5 that the record names."""

    data: Bytes
    start: int
    end: int
    digest: str

    def text(self) -> str | None:
        """The payload, or None if it is not what was written (cut short, or changed)."""
        raw = self.data[self.start : self.end]
        lines = raw.split(b"\n")
        if lines and lines[-1] == b"":
            lines.pop()
        if not all(line.startswith(b"\t") for line in lines):
            return None
        content = b"\n".join(line[1:] for line in lines)
        if self.digest and hashlib.md5(content, usedforsecurity=False).hexdigest() != self.digest:
            return None
        return content.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Record:
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
    whole_line = data[start:end].split(b"\n", 1)[0]
    prefix = PREFIX.match(whole_line)
    if prefix is None:
        return None
    try:
        envelope = json.loads(whole_line[prefix.end() :])
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
        attempt=envelope.get("attempt") or 0,
        rank=envelope.get("rank"),
        payload=payload,
        stack=envelope.get("stack"),
    )


def _compile_id(envelope: dict[str, Any]) -> str | None:
    """The id as torch prints it (torch/_guards.py, ``CompileId.__str__``): ``0/1``, or ``!2/0/1`` under compiled autograd."""
    autograd, frame, entry = (envelope.get(key) for key in ("compiled_autograd_id", "frame_id", "frame_compile_id"))
    if frame is None:
        return None if autograd is None else f"!{autograd}"
    return f"{frame}/{entry}" if autograd is None else f"!{autograd}/{frame}/{entry}"


def iterate(data: bytes | mmap.mmap) -> Iterator[Record | None]:
    """Every record of a whole trace, in order; None in the place of each stretch that is no record."""
    position, size = 0, len(data)
    while position < size:
        end = _next_record(data, position)
        yield parse_record(data, position, end)
        position = end


def _next_record(data: bytes | mmap.mmap, position: int) -> int:
    """Where the record at ``position`` ends: at the next line that does not begin with a tab."""
    while True:
        newline = data.find(b"\n", position)
        if newline < 0:
            return len(data)
        # payload lines are the bulk of a trace: skip to the first line that a record's severity letter may begin
        if data[newline + 1 : newline + 2] != b"\t":
            return newline + 1
        position = newline + 1


def opened(path: Path) -> bytes | mmap.mmap:
    """The bytes of one trace file (``mapped``).

    Raises TraceError, also for a file that holds no record: nothing can be said of the run then, least of all that all is well.
    """
    data = mapped(path)
    if not data[:1]:
        raise TraceError(f"{path} is empty, so it is not a torch trace.")
    if all(record is None for record in iterate(data)):
        raise TraceError(f"{path} is not a torch trace. `TORCH_TRACE=DIR` lets a run of torch write one.")
    return data
