"""Turns a trace from another run or machine into an outcome."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from compile_lens.analysis.compiled_functions import summarize_compiled
from compile_lens.analysis.find import find
from compile_lens.analysis.finding import Finding
from compile_lens.analysis.outcome import TRACE_ENTRY, Outcome, RankSummary, Status
from compile_lens.analysis.recorded_calls import find_recorded_calls
from compile_lens.analysis.region_index import RegionIndex
from compile_lens.analysis.regions import summarize_functions, summarize_regions
from compile_lens.analysis.run_context import RunContext
from compile_lens.analysis.sources import Sources
from compile_lens.documents.source_file import source_if_named
from compile_lens.late_pattern import pattern
from compile_lens.pipeline.local_files import NO_FILES, LocalFiles, Maps, find_local_files
from compile_lens.syntax.tree import SourceTree, parse
from compile_lens.trace.builder import read_report
from compile_lens.trace.report import CompileReport

DAMAGED = "Unreadable: {lost} of {records} records of the trace (cut short or changed); {intact:g}% is intact. Findings may be missing."

# torch/_inductor/compile_fx.py and torch/_functorch/_aot_autograd/autograd_cache.py (torch 2.6 to 2.13)
CACHE = pattern(r"^(?:fx_graph|aotautograd)_cache_(?:hit|miss)$")


class Recorded(Struct, frozen=True):
    """What one trace file tells, and the files of this machine that it is about."""

    outcome: Outcome
    report: CompileReport
    files: LocalFiles = NO_FILES


def with_compiled(recorded: Recorded) -> Recorded:
    """``recorded``, with what became of each function: it reads the code of all kernels, which a large trace has much of."""
    return replace(recorded, outcome=replace(recorded.outcome, compiled=summarize_compiled(recorded.report)))


def with_divergence(recorded: Sequence[Recorded]) -> list[Outcome]:
    """The outcomes of the ranks of one job, each with what differs from the others where it belongs to this rank."""
    by_rank = {one.report.rank: one for one in recorded if one.report.rank is not None}
    if len(by_rank) < len(recorded) or len(by_rank) < 2:  # not the ranks of one job
        return [one.outcome for one in recorded]
    # most traces are of one process
    from compile_lens.analysis.rank_divergence import Rank
    from compile_lens.analysis.rank_findings import find_rank_findings

    ranks = [Rank(number, one.report, one.outcome.findings) for number, one in sorted(by_rank.items())]
    found: dict[int, list[Finding]] = {}
    for rank, finding in find_rank_findings(ranks, _graph_sources(recorded)):
        found.setdefault(rank.number, []).append(finding)
    return [
        replace(one.outcome, findings=(*found.get(number, ()), *one.outcome.findings))
        for one in recorded
        if (number := one.report.rank) is not None
    ]


def _graph_sources(recorded: Sequence[Recorded]) -> Sources:
    """Access to the lines that the graphs of all ranks name."""

    def here(file: str, line: int) -> tuple[str, int]:
        return next((one.files.here(file, line) for one in recorded if file in one.files.files), (file, line))

    return Sources("", tree_of_file, here=here)


def read_recorded(
    trace: Path, maps: Maps = (), just_my_code: bool = True, name: str = "", folders: Sequence[str] = ()
) -> Recorded:
    """What the trace file ``trace`` tells, under its path or ``name``; for the rest, see ``recorded_of``.

    Raises TraceError when the trace cannot be read.
    """
    return recorded_of(read_report(trace), name or str(trace), maps, just_my_code, folders)


def recorded_of(
    report: CompileReport, name: str, maps: Maps = (), just_my_code: bool = True, folders: Sequence[str] = ()
) -> Recorded:
    """What the trace that ``report`` was made of tells, under its ``name``.

    ``maps`` are folders of the recording machine and what they are here; files of the user's are also looked for below ``folders``.
    What happens inside libraries is told at the line that called them, unless not ``just_my_code``.
    """
    files = find_local_files(report, maps, folders)
    report = files.localize(report)

    tree_of = cache(tree_of_file)
    rank = f" (rank {report.rank})" if report.rank is not None else ""
    sources = Sources("", tree_of, just_my_code=just_my_code, here=files.here)
    findings = find(RunContext(report, sources, RegionIndex(report, "", None), recorded=True))
    outcome = Outcome(
        file=f"{name}{rank}",
        python="",
        torch=report.torch,
        depth="inductor",
        entry=TRACE_ENTRY,
        status=Status.OK,
        duration_s=report.lasted or report.seconds,
        regions=tuple(
            region
            for file in dict.fromkeys(compilation.file for compilation in report.compilations)
            for region in summarize_regions(report, RegionIndex(report, file, tree_of(file)))
        ),
        functions=summarize_functions(report, sources),
        findings=tuple(_as_recorded(finding, files) for finding in findings),
        graphs=report.graphs,
        options=report.options,
        compile_time_s=report.seconds,
        notes=(*_damage(report), *files.notes()),
        recorded=tuple(find_recorded_calls(report, sources)),
        ranks=(_summary(report.rank, report),) if report.rank is not None else (),
    )
    return Recorded(outcome, report, files)


def tree_of_file(file: str) -> SourceTree | None:
    """The syntax tree of a file that need not be there."""
    text = source_if_named(file)
    return parse(text) if text is not None else None


def _summary(rank: int, report: CompileReport) -> RankSummary:
    events = Counter(artifact.name.rpartition("_")[2] for artifact in report.artifacts if CACHE.match(artifact.name))
    return RankSummary(
        rank,
        report.graphs,
        len(report.breaks),
        sum(1 for compilation in report.compilations if compilation.recompile and not compilation.hit_limit),
        events["hit"],
        events["miss"],
        report.seconds,
    )


def with_note(recorded: Recorded, note: str) -> Recorded:
    """``recorded``, with one more sentence about its file, if there is one."""
    outcome = recorded.outcome
    return replace(recorded, outcome=replace(outcome, notes=(note, *outcome.notes))) if note else recorded


def _as_recorded(finding: Finding, files: LocalFiles) -> Finding:
    """``finding``, with what its line was, if that has changed."""
    then = files.as_recorded(finding.place.file, finding.place.line)
    if then is None:
        return finding
    line, is_gone = then
    words = f"Recorded at line {line}; the file has changed since" + (
        ", and the line is no longer there." if is_gone else "."
    )
    return replace(finding, explanation=f"{finding.explanation}\n{words}".strip())


def _damage(report: CompileReport) -> Iterator[str]:
    # what is read late was counted while findings were made
    lost = report.corrupt + report.damaged_payloads
    if lost:
        share = 100 * (report.records - min(lost, report.records)) / report.records
        yield DAMAGED.format(lost=f"{lost:,}", records=f"{report.records:,}", intact=min(99.9, round(share, 1)))
