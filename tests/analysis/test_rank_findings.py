"""What differs between ranks: on jobs recorded on the CPU (torch 2.13, gloo), and on reports made for each way to differ."""

from __future__ import annotations

import shutil
import tarfile
import tempfile
from functools import cache
from pathlib import Path

from msgspec.structs import replace

from compile_lens.analysis.finding import Finding, Severity
from compile_lens.analysis.rank_details import plain
from compile_lens.analysis.rank_divergence import Rank
from compile_lens.analysis.rank_findings import find_rank_findings
from compile_lens.analysis.ranks import rank_names
from compile_lens.analysis.sources import Sources
from compile_lens.pipeline.opened_trace import OpenedTrace, TraceOptions, open_trace
from compile_lens.trace.report import Compilation, CompileReport

# the archives have the programs, too
JOBS = Path(__file__).parent.parent / "data" / "ranks-torch2.13"


@cache
def opened(name: str) -> OpenedTrace:
    """The job ``name``, unpacked beside its program."""
    folder = Path(tempfile.mkdtemp())
    try:
        with tarfile.open(JOBS / f"{name}.tar.xz") as archive:
            archive.extractall(folder, filter="data")
        return open_trace(folder / name, TraceOptions())
    finally:
        shutil.rmtree(folder)


def differences(name: str) -> list[Finding]:
    (whole,) = opened(name).merged()
    return [finding for finding in whole.findings if finding.kind.value == "divergence"]


def test_collectives_of_another_order_hang_at_their_line() -> None:
    (finding,) = differences("collectives")
    assert (finding.code, finding.severity, finding.place.line) == ("rank-collectives", Severity.ERROR, 17)
    assert finding.message == (
        "Ranks diverge: rank 0 calls `all_reduce` as collective 2, and rank 1 calls `all_gather_into_tensor`."
    )
    assert finding.explanation.startswith(
        "This is the first difference. Up to [0/0], all ranks compiled the same. This can hang:"
    )


def test_graphs_and_guards_are_compared_side_by_side() -> None:
    graphs, guards = differences("shapes")
    assert (graphs.code, graphs.message) == (
        "rank-graphs",
        "Ranks diverge: the graph of `forward` on rank 2 differs from that on ranks 0, 1, 3.",
    )
    assert "`x: f32[2, 6, 16]` on rank 2, and `x: f32[2, 8, 16]` on ranks 0, 1, 3" in graphs.explanation
    assert "does not hang" in graphs.explanation
    assert (guards.code, guards.message) == (
        "rank-guards",
        "Ranks diverge: `forward` has different guards on rank 3 than on ranks 0, 1.",
    )
    assert (
        "`options['mode'] == 'warm'` on rank 3, and by `options['mode'] == 'train'` on ranks 0, 1" in guards.explanation
    )


def test_a_cache_that_only_one_rank_has_is_told_with_who_waits() -> None:
    (finding,) = [one for one in differences("caches") if one.code == "rank-cache"]
    assert finding.message == (
        "Ranks diverge: `scale` missed the FX graph cache on rank 1, and hit the FX graph cache on rank 0."
    )
    assert "While rank 1 compiles" in finding.explanation
    assert "timeout of the process group" in finding.explanation


def test_one_view_has_a_row_for_each_rank_and_says_once_what_is_the_same() -> None:
    (whole,) = opened("shapes").merged()
    assert [row.rank for row in whole.ranks] == [0, 1, 2, 3]
    assert [row.graphs for row in whole.ranks] == [1, 1, 1, 1]
    chosen = opened("shapes").of_ranks([3])
    assert [[row.rank for row in outcome.ranks] for outcome in chosen.outcomes] == [[3]]


def job(*ranks: tuple[Compilation, ...]) -> list[Finding]:
    made = [Rank(number, CompileReport(rank=number, compilations=own), ()) for number, own in enumerate(ranks)]
    return [finding for _, finding in find_rank_findings(made, Sources("", lambda _: None))]


SAME = tuple(
    Compilation(f"{frame}/0", name, "/job/train.py", 1, graphs=1, seconds=2.0) for frame, name in enumerate("fg")
)


def test_a_slow_rank_is_told_with_the_frame_that_takes_longer() -> None:
    slow = (SAME[0], replace(SAME[1], seconds=9.0))
    (finding,) = job(SAME, slow, SAME)
    assert finding.code == "slow-rank"
    assert finding.message == "Compiling takes 11.0 s on rank 1, 2.8 times the median (4.0 s)."
    assert "7.0 s of the difference are [1/0] `g`." in finding.explanation
    assert job(SAME, SAME, SAME) == []


def test_the_time_of_a_recompile_that_is_told_is_not_told_again() -> None:
    again = Compilation("1/1", "g", "/job/train.py", 1, graphs=1, seconds=9.0)
    assert [finding.code for finding in job(SAME, (*SAME, again), SAME)] == ["rank-divergence"]


def test_what_differs_between_processes_is_no_difference() -> None:
    here, there = (
        f"___check_obj_id(L['x'], {number}), device={rank}, \"f32[2]cuda:{rank}\"  # a.py:{rank} in f"
        for number, rank in ((140508283515072, 0), (140508283999999, 1))
    )
    assert plain(here) == plain(there)


def test_ranks_are_named_in_ranges() -> None:
    assert rank_names([1]) == "rank 1"
    assert rank_names([3, 0, 1]) == "ranks 0, 1, 3"
    assert rank_names([0, 1, 2, 3, 7]) == "ranks 0 to 3, 7"
