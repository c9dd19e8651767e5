"""Analyses the files one after the other, as ``compile-lens check FILE`` does, and keeps what became of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.entry_corpus.files import File
from compile_lens.analysis.finding import Kind
from compile_lens.session.analyse import analyse
from compile_lens.session.entry_choice import analyse_by_entries, choose, has_reached
from compile_lens.session.outcome import Outcome
from compile_lens.session.source_file import read_source
from compile_lens.workers.host import Host
from compile_lens.workers.job import Job


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a file. ``reason`` says why nothing of it was analysed, in a sentence."""

    name: str
    entry: str
    reached: bool
    what: str
    graphs: int
    breaks: int
    recompiles: int
    others: int
    seconds: float
    reason: str
    calls: list[str]

    @property
    def line(self) -> str:
        """One line for the terminal."""
        return f"{'yes' if self.reached else 'NO '} {self.name:60.60} {self.entry:12.12} {self.seconds:5.1f} s  {self.what or self.reason}"


async def run_all(
    files: Sequence[File], python: str, environment: Mapping[str, str], timeout: float, keep: Callable[[Result], None]
) -> None:
    """Analyse ``files``; ``keep`` gets each result as it comes."""
    host = Host(python, environment)
    try:
        for file in files:
            text = read_source(file.path)
            # installed code has no project around it: no tests, no scripts
            choice = choose(str(file.path), text, None)
            job = Job(str(file.path), timeout_s=timeout, cwd=str(file.path.parent))
            keep(_result(file, await analyse_by_entries(analyse, host, job, choice)))
    finally:
        await host.close()


def _result(file: File, outcome: Outcome) -> Result:
    reached = has_reached(outcome)
    kinds = [finding.kind for finding in outcome.findings]
    regions = [region.name for region in outcome.regions if region.frames]
    errors = {Kind.RUN_ERROR, Kind.GRAPH_BREAK, Kind.RECOMPILE, Kind.NOT_COMPILED}
    return Result(
        name=f"{file.group}: {file.name}",
        entry=outcome.entry,
        reached=reached,
        what=", ".join(regions or [call.target or call.text for call in outcome.calls]) if reached else "",
        graphs=outcome.graphs,
        breaks=sum(finding.count for finding in outcome.findings if finding.kind is Kind.GRAPH_BREAK),
        recompiles=sum(finding.count for finding in outcome.findings if finding.kind is Kind.RECOMPILE),
        others=sum(kind not in errors for kind in kinds),
        seconds=round(outcome.duration_s, 1),
        reason="" if reached else _reason(outcome, file.path),
        calls=[call.text for call in outcome.calls],
    )


def _reason(outcome: Outcome, path: Path) -> str:
    if outcome.failure:
        return outcome.failure.replace(str(path), path.name)
    messages = [finding.message for finding in outcome.findings if finding.kind is Kind.RUN_ERROR]
    return messages[0] if messages else "It compiled nothing."
