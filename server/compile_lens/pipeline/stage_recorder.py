"""Keeps the trace of a run that is to give the compiler's stages: one file for each way in which the program was tried."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from compile_lens.agent.runtime.protocol import RunStarted
from compile_lens.analysis.filters import Filters
from compile_lens.analysis.outcome import Outcome
from compile_lens.pipeline.analyze import NO_FILTERS
from compile_lens.pipeline.reach import Reach
from compile_lens.workers.host import Host
from compile_lens.workers.job import Job
from compile_lens.workers.wire import Frame, TraceRecord


class StageRecorder:
    """Analyzes as ``analyze`` does, and writes what torch says meanwhile to files in ``folder``."""

    def __init__(self, analyze: Callable[..., Any], folder: Path) -> None:
        self._analyze, self._folder = analyze, folder
        self._traces: dict[str, Path] = {}
        self._reach: Reach | None = None

    async def __call__(
        self,
        host: Host,
        job: Job,
        on_partial: Callable[[Outcome], None] | None = None,
        filters: Filters = NO_FILTERS,
    ) -> Outcome:
        """One attempt, by the entry of ``job``."""
        file = self._folder / f"trace-{len(self._traces)}.log"
        self._traces[job.entry] = file
        with file.open("wb") as trace:

            def write(frame: Frame) -> None:
                if isinstance(frame, RunStarted):  # the program is run once more in the same attempt
                    trace.seek(0)
                    trace.truncate()
                elif isinstance(frame, TraceRecord):
                    trace.write(frame.data.rstrip(b"\n") + b"\n")

            outcome: Outcome = await self._analyze(host, job, on_partial, filters, write)
        self._reach = Reach.of_run(job, host.hello, host.agent_folder)
        return outcome

    def holds(self, file: str) -> bool:
        """Whether what was run may speak of ``file``."""
        return self._reach is not None and self._reach.holds(file)

    def trace_of(self, outcome: Outcome) -> Path | None:
        """The trace that ``outcome`` was made from: that of its entry, else of the last attempt."""
        return self._traces.get(outcome.entry) or next(reversed(self._traces.values()), None)
