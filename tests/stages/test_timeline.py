"""Compile time by phase and frame, held against the events of recorded traces, and against events that overlap and are cut."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from compile_lens.stages.perfetto import to_perfetto
from compile_lens.stages.timeline import Phase, Timeline, read_timeline
from compile_lens.trace.records import TraceBytes, iterate, opened

DATA = Path(__file__).parents[1] / "data"
TRACES = (
    "h200-single/dedicated_log_torch_trace_axhtpm4e.log.gz",
    "h200-ddp/dedicated_log_torch_trace_rank_1_wuo5sfnb.log.gz",
)


def events_of(trace: TraceBytes) -> list[dict[str, Any]]:
    """Read in the plainest way."""
    records = [record for record in iterate(trace, frozenset()) if record is not None and record.payload is not None]
    return [json.loads(record.payload.text() or "") for record in records if record.kind == "chromium_event"]  # type: ignore[union-attr]


def trace_of(*events: dict[str, Any]) -> TraceBytes:
    records = [
        'V0101 10:00:00.000000 1 torch/x.py:1] {"chromium_event": {}, "has_payload": ""}\n\t' + json.dumps(event) + "\n"
        for event in events
    ]
    return TraceBytes("".join(records).encode())


def event(name: str, kind: str, at: float, compile_id: str = "0/0", **more: Any) -> dict[str, Any]:
    return {"name": name, "ph": kind, "ts": at * 1e6, "args": {"compile_id": compile_id, **more}, "tid": 0, "pid": 0}


@pytest.mark.parametrize("name", TRACES)
def test_every_event_is_there_and_phases_add_up(name: str) -> None:
    trace = opened(DATA / name)
    timeline, events = read_timeline(trace), events_of(trace)
    assert Counter(span.name for span in timeline.spans) == Counter(one["name"] for one in events if one["ph"] == "B")
    assert not any(span.is_cut for span in timeline.spans)
    # the outermost event of a frame is called "dynamo": its times in the trace
    begun = sum(one["ts"] for one in events if one["name"] == "dynamo" and one["ph"] == "B")
    ended = sum(one["ts"] for one in events if one["name"] == "dynamo" and one["ph"] == "E")
    assert sum(span.duration for span in timeline.spans if span.name == "dynamo") == pytest.approx(
        (ended - begun) / 1e6,
        # microseconds since 1970, added up, leave few digits
        abs=1e-5,
    )
    by_frame = timeline.by_frame()
    assert sum(sum(phases.values()) for phases in by_frame.values()) == pytest.approx(timeline.total)
    assert all(frame in timeline.frames for frame in by_frame if frame)


def test_what_a_known_frame_cost() -> None:
    timeline = read_timeline(opened(DATA / TRACES[0]))
    assert timeline.frames["5/0"].function == "tuned"  # max-autotune
    phases = timeline.by_frame()["5/0"]
    assert max(phases, key=lambda phase: phases[phase]) is Phase.AUTOTUNING
    assert timeline.cache_counts() == {
        "AOTAutograd cache": {"miss": 11, "hit": 4},
        "FX graph cache": {"miss": 17},
    }


def by_name(timeline: Timeline) -> dict[str, tuple[int, int, float]]:
    return {span.name: (span.lane, span.depth, round(span.own, 6)) for span in timeline.spans}


def test_threads_that_overlap_are_laid_beside() -> None:
    timeline = read_timeline(
        trace_of(
            event("dynamo", "B", 1),
            event("compile_file", "B", 2, "None"),
            event("async_compile.wait", "B", 3),
            event("compile_file", "E", 4, "None"),
            event("async_compile.wait", "E", 5),
            event("dynamo", "E", 6),
        )
    )
    assert by_name(timeline) == {"dynamo": (0, 0, 3), "async_compile.wait": (0, 1, 2), "compile_file": (1, 0, 2)}
    assert timeline.total == pytest.approx(5)


def test_an_event_without_an_end_and_one_without_a_beginning() -> None:
    timeline = read_timeline(
        trace_of(event("gc", "E", 0.5), event("dynamo", "B", 1), event("build_guards", "B", 2), event("other", "i", 3))
    )
    assert [(span.name, span.is_cut, round(span.duration, 6)) for span in timeline.spans] == [
        ("dynamo", True, 2),
        ("build_guards", True, 1),
    ]


def test_damaged_events_are_left_out() -> None:
    timeline = read_timeline(trace_of({"name": "dynamo"}, {"args": 1}, event("gc", "B", 1), event("gc", "E", 2)))
    assert [span.name for span in timeline.spans] == ["gc"]


def test_a_lookup_says_why_it_was_bypassed() -> None:
    timeline = read_timeline(
        trace_of(event("fx_graph_cache_bypass", "i", 1, cache_bypass_reason="a custom pass", components=["…" * 5000]))
    )
    (use,) = timeline.caches
    assert (use.cache, use.result, use.reason) == ("FX graph cache", "bypass", "a custom pass")


def test_perfetto_gets_events_that_nest_in_each_thread() -> None:
    timeline = read_timeline(opened(DATA / TRACES[0]))
    document = json.loads(to_perfetto({"rank 0": timeline}))
    complete = [one for one in document["traceEvents"] if one["ph"] == "X"]
    assert len(complete) == len(timeline.spans)
    assert all(len(json.dumps(one)) < 20_000 for one in complete)  # keys of caches hold whole graphs
    open_until: dict[int, list[float]] = {}
    for one in complete:
        around = open_until.setdefault(one["tid"], [])
        while around and around[-1] <= one["ts"] + 1e-3:
            around.pop()
        assert not around or one["ts"] + one["dur"] <= around[-1] + 1e-3
        around.append(one["ts"] + one["dur"])
    names = {one["args"]["name"] for one in document["traceEvents"] if one["name"] == "process_name"}
    assert names == {"rank 0"}
