"""A timeline as a file that Perfetto (ui.perfetto.dev) and chrome://tracing open: the Trace Event Format, one complete event per span."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from compile_lens.stages.timeline import Timeline

MICROSECONDS = 1e6


def to_perfetto(timelines: Mapping[str, Timeline] | Sequence[tuple[str, Timeline]]) -> str:
    """The document. ``timelines`` are one per process (a rank), by name."""
    rows = timelines.items() if isinstance(timelines, Mapping) else timelines
    events = [event for process, (name, timeline) in enumerate(rows) for event in _events(process, name, timeline)]
    return json.dumps({"displayTimeUnit": "ms", "traceEvents": events}, default=str)


def _events(process: int, name: str, timeline: Timeline) -> Iterator[dict[str, Any]]:
    yield {"ph": "M", "name": "process_name", "pid": process, "tid": 0, "args": {"name": name}}
    for lane in sorted({span.lane for span in timeline.spans}):
        title = "compiling" if lane == 0 else f"beside ({lane})"
        yield {"ph": "M", "name": "thread_name", "pid": process, "tid": lane, "args": {"name": title}}
    for span in timeline.spans:
        yield {
            "ph": "X",
            "name": span.name,
            "cat": span.phase.value,
            "ts": span.start * MICROSECONDS,
            "dur": span.duration * MICROSECONDS,
            "pid": process,
            "tid": span.lane,
            "args": {**span.arguments, **({"frame": span.compile_id} if span.compile_id else {})},
        }
    for use in timeline.caches:
        yield {
            "ph": "i",
            "s": "t",
            "name": f"{use.cache}: {use.result}",
            "cat": "cache",
            "ts": use.at * MICROSECONDS,
            "pid": process,
            "tid": 0,
            "args": {"frame": use.compile_id, **({"reason": use.reason} if use.reason else {})},
        }
