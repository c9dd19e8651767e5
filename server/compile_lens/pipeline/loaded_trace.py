"""Turns a trace from another run or machine into an outcome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from compile_lens.analysis.compiled_functions import summarize_compiled
from compile_lens.analysis.find import find
from compile_lens.analysis.outcome import TRACE_ENTRY, Outcome, Status
from compile_lens.analysis.rank_divergence import Rank, find_divergence
from compile_lens.analysis.recorded_calls import find_recorded_calls
from compile_lens.analysis.region_index import RegionIndex
from compile_lens.analysis.regions import summarize_regions
from compile_lens.analysis.run_context import RunContext
from compile_lens.analysis.sources import Sources
from compile_lens.documents.source_file import source_if_readable
from compile_lens.syntax.tree import SourceTree, parse
from compile_lens.trace.builder import read_report
from compile_lens.trace.report import CompileReport
from compile_lens.wording import counted

DAMAGED = "Unreadable: {records} of the trace (cut short or changed). Findings may be missing."


@dataclass(frozen=True, slots=True)
class Recorded:
    """What one trace file tells."""

    outcome: Outcome
    report: CompileReport


def with_compiled(recorded: Recorded) -> Recorded:
    """``recorded``, with what became of each function: it reads the code of all kernels, which a large trace has much of."""
    return replace(recorded, outcome=replace(recorded.outcome, compiled=summarize_compiled(recorded.report)))


def with_divergence(recorded: Sequence[Recorded]) -> list[Outcome]:
    """The outcomes of the ranks of one job; that of the rank which diverges first gets a finding of it."""
    by_rank = {one.report.rank: one for one in recorded if one.report.rank is not None}
    outcomes = [one.outcome for one in recorded]
    if len(by_rank) < len(recorded) or len(by_rank) < 2:  # not the ranks of one job
        return outcomes
    ranks = [Rank(number, one.report, one.outcome.findings) for number, one in sorted(by_rank.items())]
    diverged = find_divergence(ranks)
    if diverged is None:
        return outcomes
    rank, finding = diverged
    return [
        replace(one.outcome, findings=(finding, *one.outcome.findings)) if one.report is rank.report else one.outcome
        for one in recorded
    ]


def read_recorded(
    trace: Path, moved: tuple[tuple[str, str], ...] = (), just_my_code: bool = True, name: str = ""
) -> Recorded:
    """What the trace file ``trace`` tells, under its path or ``name``.

    ``moved`` maps folders of the recording machine to folders here; what happens inside libraries is told at the line that called
    them, unless not ``just_my_code``.

    Raises TraceError when the trace cannot be read.
    """
    return recorded_of(read_report(trace), name or str(trace), moved, just_my_code)


def recorded_of(
    report: CompileReport, name: str, moved: tuple[tuple[str, str], ...] = (), just_my_code: bool = True
) -> Recorded:
    """What the trace that ``report`` was made of tells, under its ``name``; for the rest, see ``read_recorded``."""

    @cache
    def tree_of(file: str) -> SourceTree | None:
        text = source_if_readable(here(file, moved))
        return parse(text) if text is not None else None

    rank = f" (rank {report.rank})" if report.rank is not None else ""
    sources = Sources("", tree_of, just_my_code=just_my_code)
    outcome = Outcome(
        file=f"{name}{rank}",
        python="",
        torch=report.torch,
        depth="inductor",
        entry=TRACE_ENTRY,
        status=Status.OK,
        duration_s=0.0,
        regions=tuple(
            region
            for file in dict.fromkeys(compilation.file for compilation in report.compilations)
            for region in summarize_regions(report, RegionIndex(report, file, tree_of(file)))
        ),
        findings=find(RunContext(report, sources, RegionIndex(report, "", None), recorded=True)),
        graphs=report.graphs,
        options=report.options,
        compile_time_s=report.seconds,
        notes=(DAMAGED.format(records=counted(report.corrupt, "record")),) if report.corrupt else (),
        recorded=tuple(replace(call, file=here(call.file, moved)) for call in find_recorded_calls(report, sources)),
    )
    return Recorded(outcome, report)


def here(file: str, moved: tuple[tuple[str, str], ...]) -> str:
    """Where ``file`` of the recording machine is on this one."""
    for recorded, local in moved:
        if file.startswith(recorded):
            return local + file[len(recorded) :]
    return file
