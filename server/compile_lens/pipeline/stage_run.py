"""Gets the stages of a file: from a run, with what torch records of kernels and fusion, or from what another run left."""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

from compile_lens.agent.runtime.protocol import RunStarted
from compile_lens.analysis.filters import Filters
from compile_lens.analysis.outcome import Outcome
from compile_lens.documents.source_file import source_if_named
from compile_lens.pipeline.analyze import analyze
from compile_lens.pipeline.entry_choice import analyze_by_entries
from compile_lens.pipeline.file_analysis import FileRequest, OnOutcome
from compile_lens.pipeline.reach import Reach
from compile_lens.stages.collection import OpenedStages
from compile_lens.stages.debug_folder import is_debug_folder, read_debug_folder
from compile_lens.stages.opened import read_stages, stages_of
from compile_lens.trace.files import TraceError, unpacked
from compile_lens.trace.records import TraceBytes
from compile_lens.workers.host import Host
from compile_lens.workers.job import Depth, Job
from compile_lens.workers.wire import Frame, TraceRecord

SourceLines = Callable[[str], "list[str] | None"]


@dataclass(frozen=True, slots=True)
class StageRun:
    """What a run told: its findings, and the stages of its graphs. ``lines_of`` reads the files that it may speak of."""

    outcome: Outcome
    stages: OpenedStages
    lines_of: SourceLines


def job_with_stages(job: Job) -> Job:
    """``job`` as far as kernels are compiled, with what stages need."""
    return replace(job, depth=Depth.INDUCTOR, stages=True)


async def run_stages(request: FileRequest, job: Job, host_of: Callable[[str], Host]) -> list[StageRun]:
    """Run ``job``, once for each choice of an entry. Raises FileProblem, BadEntry and InterpreterError."""
    job = job_with_stages(request.selection.limit(job))
    host = host_of(request.interpreter(job))
    runs = []
    for choice in request.selection.choices(job):
        collected: dict[str, KeptTrace] = {}
        outcome = await analyze_by_entries(partial(_analyze, collected), host, job, choice, None, request.filters)
        # what ran as a script though it was called by another name is the newest
        kept = collected.get(outcome.entry) or next(reversed(collected.values()), KeptTrace())
        lines = lines_within(Reach.of_run(job, host.hello, host.agent_folder))
        runs.append(StageRun(outcome, stages_of(kept.bytes(), lines), lines))
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
    """The lines of a source file of this machine that a recording names, if it is there."""
    text = source_if_named(file) if Path(file).is_absolute() else None
    return text.split("\n") if text is not None else None


def lines_within(reach: Reach) -> SourceLines:
    """What reads the files that a run may speak of, each once."""
    return cache(lambda file: lines_of(file) if reach.holds(file) else None)


class KeptTrace:
    """A trace that grows while a run sends its records: the file that torch would have written, without a name in any folder."""

    def __init__(self) -> None:
        # the map of the file outlives it
        self._file = tempfile.TemporaryFile()  # noqa: SIM115
        self._size = 0

    def add(self, record: bytes) -> None:
        """Take one record, as the agent sends it."""
        self._size += self._file.write(record if record.endswith(b"\n") else record + b"\n")

    def bytes(self) -> TraceBytes:
        """What has been added, memory-mapped; nothing is added after that."""
        with self._file:
            self._file.flush()
            if not self._size:
                return TraceBytes(b"")
            return TraceBytes(mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ))


# of files that are run
SOURCES = frozenset({".py", ".ipynb"})


def is_source(path: Path) -> bool:
    """Whether ``path`` is a program, and no recording."""
    return path.suffix in SOURCES and not path.is_dir()


def open_recorded_stages(path: Path) -> list[tuple[str, OpenedStages]]:
    """The stages at ``path``, one for each rank, with the name of each file. Raises TraceError."""
    lines = cache(lines_of)
    if path.is_dir() and is_debug_folder(path):
        return [(str(path), read_debug_folder(path, lines))]
    found: list[tuple[str, OpenedStages]] = []
    problems: list[str] = []
    with unpacked(path) as files:
        for file in files:
            try:
                found.append((file.name, read_stages(file.path, lines)))
            except TraceError as problem:
                problems.append(str(problem))
    if not found:
        raise TraceError(" ".join(problems))
    return found
