"""A comparison of stages as people read it, and what a program's text may do in it: nothing."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from compile_lens.diff.stage_comparison import GraphFigures, compare_stages
from compile_lens.formats import timeline_text
from compile_lens.formats.stage_comparison import summary, to_html, to_json, to_text
from compile_lens.stages.opened import OpenedStages, read_stages
from compile_lens.stages.timeline import read_timeline
from compile_lens.trace.files import trace_files
from compile_lens.trace.records import opened

SINGLE = Path(__file__).parents[1] / "data" / "h200-single"
HOSTILE = "<script>alert(1)</script>\x1b]0;title\x07"


@cache
def single() -> OpenedStages:
    (trace,) = trace_files(SINGLE)
    return read_stages(trace)


def only(name: str) -> OpenedStages:
    return OpenedStages(tuple(graph for graph in single().graphs if graph.id == name))


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ((3, 0, 3_000_000), (2, 0, 1_500_000), "3 → 2 kernels, 1.5 MB less traffic"),
        ((2, 1, 10), (2, 1, 10), "2 kernels, 1 library call, the same traffic"),
        ((2, 0, None), (1, 0, 10), "2 → 1 kernel"),
        ((1, 0, 0), (1, 2, 2000), "1 kernel, 0 → 2 library calls, 2 kB more traffic"),
    ],
)
def test_a_summary(before: tuple[int, int, int | None], after: tuple[int, int, int | None], words: str) -> None:
    assert summary(GraphFigures(*before), GraphFigures(*after)) == words


def test_what_differs_is_told_and_what_does_not_is_counted() -> None:
    same = compare_stages(("a.py", single()), ("b.py", single()))
    assert "No stage differs." in to_text(same).plain
    other = compare_stages((HOSTILE, only("1_0/forward")), ("b.py", only("1_1/forward")))
    text = to_text(other).plain
    assert "Forward graph: " in text and "lines added" in text
    document = json.loads(to_json(other))
    (graph,) = document["graphs"]
    assert graph["before"]["id"] == "1_0/forward" and graph["after"]["id"] == "1_1/forward"
    changed = {stage["stage"] for stage in graph["stages"] if stage["changed"]}
    assert "forward" in changed
    assert all(line[0] in " +-" for stage in graph["stages"] for hunk in stage["hunks"] for line in hunk["lines"])
    page = to_html(other)
    assert "<script" not in page and "\x1b" not in page
    assert "default-src 'none'" in page


def test_compile_time_in_a_terminal() -> None:
    (trace,) = trace_files(SINGLE)
    timeline = read_timeline(opened(trace))
    lines = timeline_text.to_text(timeline).plain.split("\n")
    assert lines[0] == "Compile time: 82.41 s"
    assert "with_cpu_scalar [4/0]" in lines[1]
    assert "FX graph cache: 17 misses" in lines
