"""Where the ranks of a job part ways: on a recorded job of two GPUs, and on reports made for each way to differ."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from compile_lens.analysis.rank_divergence import Rank, find_divergence
from compile_lens.pipeline.loaded_trace import read_recorded, with_divergence
from compile_lens.trace.files import trace_files, unpacked
from compile_lens.trace.report import Compilation, CompileReport

DATA = Path(__file__).parent.parent / "data"
DDP = DATA / "h200-ddp"
# DistributedDataParallel with uneven last batches, and FSDP2 with a branch of one rank; the archives have the programs
TWO = DATA / "h200x2-torch2.11"
SAME = tuple(
    Compilation(f"{frame}/0", name, "/job/train.py", 10 * frame + 1, graphs=1) for frame, name in enumerate("fgh")
)
AGAIN = Compilation("1/1", "g", "/job/train.py", 11, graphs=1, seconds=0.5)


def test_the_rank_that_alone_recompiles_is_found_with_its_cause() -> None:
    outcomes = with_divergence([read_recorded(file) for file in trace_files(DDP)])
    first, second = ([f for f in one.findings if f.code == "rank-divergence"] for one in outcomes)
    assert first == []
    (finding,) = second
    assert finding.message == (
        "Ranks diverge: rank 1 recompiled `inner`, and rank 0 did not: size 0 of its first argument changed (8 → 9)."
    )
    assert Path(finding.place.file).name == "gpu_ddp.py"
    assert finding.explanation.startswith("This is the first difference. Up to [3/0], all ranks compiled the same.")
    assert "the others wait at the next collective" in finding.explanation


@pytest.mark.parametrize(
    ("name", "rank", "line", "message"),
    [
        (
            "uneven_batches",
            1,
            21,
            "Ranks diverge: rank 1 recompiled `forward`, and rank 0 did not: size 0 of `x` changed (8 → 5).",
        ),
        ("rank_branch", 0, 23, "Ranks diverge: `forward` has 1 graph break on rank 0, and 0 graph breaks on rank 1."),
    ],
)
def test_jobs_of_two_gpus_diverge_where_their_programs_say(name: str, rank: int, line: int, message: str) -> None:
    with unpacked(TWO / f"{name}.tar.xz") as files:
        outcomes = with_divergence([read_recorded(file.path) for file in files])
    assert [len([f for f in one.findings if f.code == "rank-divergence"]) for one in outcomes] == [
        int(number == rank) for number in (0, 1)
    ]
    finding = outcomes[rank].findings[0]
    assert (finding.message, finding.place.line) == (message, line)


def job(*ranks: tuple[Compilation, ...]) -> list[Rank]:
    return [Rank(number, CompileReport(rank=number, compilations=own), ()) for number, own in enumerate(ranks)]


def message(*ranks: tuple[Compilation, ...]) -> str | None:
    found = find_divergence(job(*ranks))
    return None if found is None else found.finding.message


def test_ranks_that_compile_the_same_do_not_diverge() -> None:
    elsewhere = tuple(replace(one, file="/other/host/train.py") for one in SAME)
    assert message(SAME, elsewhere, SAME) is None
    assert message(SAME) is None


def test_the_odd_one_out_of_many_is_named() -> None:
    assert message(SAME, (*SAME, AGAIN), SAME, SAME) == (
        "Ranks diverge: rank 1 recompiled `g`, and ranks 0, 2, 3 did not."
    )
    assert message((*SAME, AGAIN), (*SAME, AGAIN), SAME) == (
        "Ranks diverge: ranks 0, 1 recompiled `g`, and rank 2 did not."
    )


def test_other_functions_and_other_results_are_told_apart() -> None:
    assert message(SAME, (SAME[0], SAME[2])) == "Ranks diverge: rank 0 compiled `g`, and rank 1 compiled `h` instead."
    eager = replace(SAME[1], graphs=0)
    assert message(SAME, (SAME[0], eager, SAME[2]), SAME) == (
        "Ranks diverge: `g` has 0 graphs on rank 1, and 1 graph on ranks 0, 2."
    )


def test_the_first_divergence_alone_is_told() -> None:
    found = find_divergence(job((*SAME, AGAIN), (SAME[0], SAME[2])))
    assert found is not None
    assert (found.finding.frames, found.index) == (("1/0",), 1)
    assert "[1/0] `g` on rank 0, [2/0] `h` on rank 1." in found.finding.explanation
