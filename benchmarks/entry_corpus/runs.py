"""Analyzes the files one after the other, as ``compile-lens check FILE`` does, and keeps what became of each."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.entry_corpus.confirm import Confirmed, confirm
from benchmarks.entry_corpus.files import File
from benchmarks.entry_corpus.help import HELP
from benchmarks.plain_torch.process import PlainTorch
from compile_lens.analysis.filters import Filters
from compile_lens.analysis.finding import Finding, Kind
from compile_lens.analysis.outcome import Outcome
from compile_lens.documents.source_file import read_source
from compile_lens.pipeline.analyze import analyze
from compile_lens.pipeline.entry_choice import EntryChoice, analyze_by_entries, choose, has_reached
from compile_lens.trace.builder import ReportBuilder
from compile_lens.trace.report import CompileReport
from compile_lens.workers.access import SandboxOptions
from compile_lens.workers.host import Host
from compile_lens.workers.job import Job, Substitution
from compile_lens.workers.wire import Frame, TraceRecord

# the finding that says that the CPU stands in for a GPU
ON_STAND_IN = "cpu-for-gpu"
FAILED = {Kind.RUN_ERROR, Kind.GRAPH_BREAK, Kind.RECOMPILE, Kind.NOT_COMPILED}


@dataclass(frozen=True, slots=True)
class Run:
    """What became of a file in one way of running it. ``reason`` says why nothing of it was analyzed, in a sentence.

    ``findings`` are their codes and messages, each with file, line and count; ``confirmed`` is None where there are none, or none of
    made-up inputs.
    """

    entry: str
    reached: bool
    what: str
    graphs: int
    breaks: int
    recompiles: int
    others: int
    seconds: float
    reason: str
    calls: tuple[str, ...]
    findings: tuple[dict[str, Any], ...] = ()
    confirmed: Confirmed | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """A file with no help, and with a line of it where nothing was analyzed without. ``at`` is the day and time of the run, UTC."""

    name: str
    at: str
    alone: Run
    help: str = ""
    helped: Run | None = None

    @property
    def best(self) -> Run:
        """The run that the file's findings are from."""
        return self.helped or self.alone

    @property
    def line(self) -> str:
        """One line for the terminal."""
        run, confirmed = self.best, self.best.confirmed
        how = f"{'yes' if self.alone.reached else 'no '} {'helped' if self.helped and self.helped.reached else ''}"
        said = f"{confirmed.confirmed}/{confirmed.findings} {len(confirmed.differences)} diff" if confirmed else ""
        return f"{how:10} {self.name:60.60} {run.seconds:5.1f} s  {said:14} {run.what or run.reason}"


class _Corpus:
    def __init__(self, host: Host, plain: PlainTorch, timeout: float) -> None:
        self._host = host
        self._plain = plain
        self._timeout = timeout

    async def result(self, file: File) -> Result:
        name = f"{file.group}: {file.name}"
        at = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M")
        alone = await self._run(file, "")
        said = "" if alone.reached else HELP.get(name, "")
        return Result(name, at, alone, said, await self._run(file, said) if said else None)

    async def _run(self, file: File, said: str) -> Run:
        # installed code has no project around it: no tests, no scripts
        choice = choose(str(file.path), read_source(file.path), None, said)
        outcome, report = await self._analyzed(file, choice, Substitution.AUTO)
        compared = outcome, report
        if any(found.code == ON_STAND_IN for found in outcome.findings):
            # the plain script meets no GPU
            compared = await self._analyzed(file, choice, Substitution.OFF)
        return _run(file.path, outcome, self._confirmed(file, choice, *compared))

    async def _analyzed(self, file: File, choice: EntryChoice, stand_in: Substitution) -> tuple[Outcome, CompileReport]:
        # what calls this has its own priority
        sandbox, cwd = SandboxOptions(niceness=0), str(file.path.parent)
        job = Job(str(file.path), timeout_s=self._timeout, cwd=cwd, sandbox=sandbox, stand_in=stand_in)
        report = CompileReport()

        async def with_report(
            host: Host, job: Job, on_partial: Callable[[Outcome], None] | None, filters: Filters
        ) -> Outcome:
            nonlocal report
            builder = ReportBuilder()

            def take(frame: Frame) -> None:
                if isinstance(frame, TraceRecord):
                    builder.feed(frame.data)

            outcome = await analyze(host, job, on_partial, filters, take)
            report = builder.report()
            return outcome

        return await analyze_by_entries(with_report, self._host, job, choice), report

    def _confirmed(self, file: File, choice: EntryChoice, outcome: Outcome, report: CompileReport) -> Confirmed | None:
        is_made_up = outcome.calls and all(call.target or choice.is_explicit for call in outcome.calls)
        if not is_made_up or not outcome.findings:
            return None
        return confirm(file.path, choice, outcome, report, self._plain)


async def run_all(
    files: Sequence[File],
    python: str,
    environment: Mapping[str, str],
    cache: Path,
    timeout: float,
    keep: Callable[[Result], None],
) -> None:
    """Analyze ``files``; ``keep`` gets each result as it comes. ``cache`` is a folder for the plain runs."""
    host = Host(python, environment)
    # all targets of a file are called, without the limit that a search has
    plain = PlainTorch(cache, int(3 * timeout), environment)
    corpus = _Corpus(host, plain, timeout)
    try:
        for file in files:
            keep(await corpus.result(file))
    finally:
        await host.close()
        plain.close()


def _run(path: Path, outcome: Outcome, confirmed: Confirmed | None) -> Run:
    reached = has_reached(outcome)
    regions = [region.name for region in outcome.regions if region.frames]
    return Run(
        entry=outcome.entry,
        reached=reached,
        what=", ".join(regions or [call.target or call.text.partition("(")[0] for call in outcome.calls])
        if reached
        else "",
        graphs=outcome.graphs,
        breaks=sum(found.count for found in outcome.findings if found.kind is Kind.GRAPH_BREAK),
        recompiles=sum(found.count for found in outcome.findings if found.kind is Kind.RECOMPILE),
        others=sum(found.kind not in FAILED for found in outcome.findings),
        seconds=round(outcome.duration_s, 1),
        reason="" if reached else _reason(outcome, path),
        calls=tuple(call.text for call in outcome.calls),
        findings=tuple(map(_plain, outcome.findings)),
        confirmed=confirmed,
    )


def _plain(found: Finding) -> dict[str, Any]:
    place = f"{Path(found.place.file).name}:{found.place.line}"
    return {"code": found.code, "place": place, "count": found.count, "message": found.message}


def _reason(outcome: Outcome, path: Path) -> str:
    if outcome.failure:
        return outcome.failure.replace(str(path), path.name)
    messages = [found.message for found in outcome.findings if found.kind is Kind.RUN_ERROR]
    return messages[0] if messages else "It compiled nothing."
