"""What is lost on a GPU: recordings of an H200 with torch 2.11, of programs in tests/data, each with and without the agent's notes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from compile_lens.agent.instrument.log_notes import IGNORED
from compile_lens.analysis.finding import Finding, Severity
from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.pipeline.loaded_trace import read_recorded
from compile_lens.trace.files import trace_files
from compile_lens.workers.wire import TraceRecord
from replay import frames_of, program, recording, replay

SINGLE = Path(__file__).parent.parent / "data" / "h200-single"


def found(outcome: Outcome) -> set[tuple[int, str]]:
    return {(finding.place.line, finding.code) for finding in outcome.findings}


def one(outcome: Outcome, code: str) -> Finding:
    (finding,) = [finding for finding in outcome.findings if finding.code == code]
    return finding


@pytest.fixture(scope="module")
def single() -> Outcome:
    (file,) = trace_files(SINGLE)
    return read_recorded(file, (("/cluster/job", str(SINGLE)),)).outcome


def test_a_plain_trace_tells_of_cuda_graphs_recompiles_breaks_and_side_effects(single: Outcome) -> None:
    assert {
        (31, "side-effect"),  # self.calls += 1
        (49, "GB0036"),  # the router's nonzero()
        (56, "cudagraph-partition"),  # the number on the CPU, multiplied in a graph with mode="reduce-overhead"
        (65, "recompile"),  # step: an int, then a float
    } <= found(single)
    partition = one(single, "cudagraph-partition")
    assert partition.message == "This line runs outside the CUDA graphs: an operator on the CPU."
    step = {f.frames: f.message for f in single.findings if (f.place.line, f.code) == (65, "recompile")}
    assert step == {
        ("6/1",): "Recompiled `scalar_arg`: `step` changed (was 0).",
        ("6/2",): "Recompiled `scalar_arg`: type of `step` changed (float → int).",
    }


def test_a_plain_trace_tells_of_tf32_and_of_compile_time_by_phase(single: Outcome) -> None:
    tf32 = one(single, "tf32-off")
    places = {tf32.place.line, *(related.place.line for related in tf32.related)}
    assert places == {17, 19, 35}
    slow = {f.place.line: f for f in single.findings if f.code == "compile-time"}
    assert set(slow) == {30, 55, 60}
    assert "generating and building code 45.8 s" in slow[55].explanation
    assert single.torch == "2.11.0+cu130"


@pytest.mark.parametrize("with_notes", [True, False], ids=["notes", "trace"])
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("cudagraph_whole", {(9, "cudagraph-skip"), (14, "cudagraph-skip"), (14, "device-sync"), (14, "fallback-op")}),
        (
            "cudagraph_partition",
            {(line, "cudagraph-partition") for line in (6, 11, 12, 13)} | {(11, "device-sync")},
        ),
        ("synchronisation", {(15, "device-sync"), (21, "device-sync")}),
        ("tf32", {(6, "tf32-off")}),
        ("hints", {(18, "fallback-op"), (19, "fallback-op"), (39, "fallback-op")}),
        ("triton_error", {(14, "triton-compile-error")}),
    ],
)
def test_programs(name: str, expected: set[tuple[int, str]], with_notes: bool) -> None:
    outcome = replay("gpu-programs", name, with_notes=with_notes)
    assert outcome.status is Status.OK
    shift = name_shift(name)
    assert {(line - shift, code) for line, code in found(outcome)} == expected


def name_shift(name: str) -> int:
    """Lines that stand before the program's own."""
    return int(program("gpu-programs", name).startswith("# compared"))


@pytest.mark.parametrize(
    ("name", "line", "code", "words"),
    [
        ("cudagraph_mutation", 6, "cudagraph-skip", "No CUDA graph is used: mutated inputs (1 instances)."),
        (
            "cudagraph_rerecord",
            15,
            "cudagraph-rerecord",
            "recorded the CUDA graph again 5 times: static input data pointer changed.",
        ),
        ("cudagraph_sizes", 6, "cudagraph-rerecord", "torch recorded a CUDA graph for each of at least 4 sizes."),
    ],
)
def test_what_happens_while_it_runs_is_known_from_notes(name: str, line: int, code: str, words: str) -> None:
    outcome = replay("gpu-programs", name)
    finding = one(outcome, code)
    assert finding.place.line == line
    assert words in finding.message
    assert finding.hints
    assert code not in {code for _, code in found(replay("gpu-programs", name, with_notes=False))}


def test_a_number_that_stays_on_the_gpu_is_no_synchronisation() -> None:
    # `.item()` of a float in line 9: torch keeps it in the graph as a tensor
    assert ".item()" in program("gpu-programs", "synchronisation").splitlines()[8]
    assert 9 not in {line for line, _ in found(replay("gpu-programs", "synchronisation"))}


def test_severities() -> None:
    assert one(replay("gpu-programs", "cudagraph_mutation"), "cudagraph-skip").severity is Severity.WARNING
    assert one(replay("gpu-programs", "tf32"), "tf32-off").severity is Severity.INFORMATION


def test_a_result_that_was_written_over_is_told_at_the_call_that_reads_it() -> None:
    finding = one(replay("gpu-programs", "cudagraph_overwritten"), "cudagraph-overwritten")
    assert finding.place.line == 10
    assert finding.hints


def test_what_findings_rest_on_is_noted_and_what_each_recording_says_is_not() -> None:
    noted = [
        json.loads(frame.data.partition(b"\n")[2])["text"]
        for frame in frames_of(recording("gpu-programs")["cudagraph_sizes.wire"])
        if isinstance(frame, TraceRecord) and b'"compile_lens_log"' in frame.data
    ]
    # that program was recorded when all was noted
    kept = [text for text in noted if not IGNORED.search(text)]
    assert len(noted) > 15
    assert [text.partition(".")[0] for text in kept] == [
        "CUDAGraph supports dynamic shapes by recording a new graph for each distinct input size"
    ]
