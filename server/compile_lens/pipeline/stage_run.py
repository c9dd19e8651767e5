"""Runs a file for its stages: the usual analysis, with what torch records of kernels and fusion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

from compile_lens.agent.runtime.protocol import RunStarted
from compile_lens.analysis.filters import Filters
from compile_lens.analysis.outcome import Outcome
from compile_lens.documents.source_file import source_if_readable
from compile_lens.pipeline.analyze import analyze
from compile_lens.pipeline.entry_choice import analyze_by_entries
from compile_lens.pipeline.file_analysis import FileRequest, OnOutcome
from compile_lens.stages.opened import OpenedStages, stages_of
from compile_lens.trace.kept import KeptTrace
from compile_lens.workers.host import Host
from compile_lens.workers.job import Depth, Job
from compile_lens.workers.wire import Frame, TraceRecord


@dataclass(frozen=True, slots=True)
class StageRun:
    """What a run told: its findings, and the stages of its graphs."""

    outcome: Outcome
    stages: OpenedStages


def job_with_stages(job: Job) -> Job:
    """``job`` as far as kernels are compiled, with what stages need."""
    return replace(job, depth=Depth.INDUCTOR, stages=True)


async def run_stages(
    request: FileRequest, job: Job, host_of: Callable[[str], Host], on_partial: OnOutcome | None = None
) -> list[StageRun]:
    """Run ``job``, once for each choice of an entry. Raises FileProblem, BadEntry and InterpreterError."""
    job = job_with_stages(request.selection.limit(job))
    host = host_of(request.interpreter(job))
    runs = []
    for choice in request.selection.choices(job):
        collected: dict[str, KeptTrace] = {}
        outcome = await analyze_by_entries(partial(_analyze, collected), host, job, choice, on_partial, request.filters)
        # what ran as a script though it was called by another name is the newest
        kept = collected.get(outcome.entry) or next(reversed(collected.values()), KeptTrace())
        runs.append(StageRun(outcome, stages_of(kept.bytes(), cache(lines_of))))
    return runs


async def _analyze(
    collected: dict[str, KeptTrace],
    host: Host,
    job: Job,
    on_partial: OnOutcome | None,
    filters: Filters,
) -> Outcome:
    def watch(frame: Frame) -> None:
        if isinstance(frame, RunStarted):
            collected[job.entry] = KeptTrace()
        elif isinstance(frame, TraceRecord):
            collected.setdefault(job.entry, KeptTrace()).add(frame.data)

    return await analyze(host, job, on_partial, filters, watch)


def lines_of(file: str) -> list[str] | None:
    """The lines of a file of this machine, if it is there."""
    text = source_if_readable(file) if Path(file).is_absolute() else None
    return text.split("\n") if text is not None else None
