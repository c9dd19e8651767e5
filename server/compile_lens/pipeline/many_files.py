"""Analyzes many files at once, and gives their outcomes in the order of the files."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence

from compile_lens.analysis.outcome import Outcome
from compile_lens.pipeline.file_analysis import FileRequest, Hosts, OnOutcome
from compile_lens.workers.job import Job

OUR_BUG = "{file} could not be analyzed because of an error in Compile Lens: {error}."

_log = logging.getLogger("compile_lens")


class InOrder:
    """Delivers outcomes in the order of their files, each as soon as those before it are there."""

    def __init__(self, deliver: OnOutcome) -> None:
        self._deliver = deliver
        self._done: dict[int, list[Outcome]] = {}
        self._next = 0

    def add(self, index: int, outcomes: list[Outcome]) -> None:
        """Take the outcomes of the file with number ``index``."""
        self._done[index] = outcomes
        while self._next in self._done:
            for outcome in self._done.pop(self._next):
                self._deliver(outcome)
            self._next += 1


async def analyze_files(
    jobs: Sequence[Job],
    request: FileRequest,
    hosts: Hosts,
    done: Callable[[int, list[Outcome]], None],
    on_partial: OnOutcome | None = None,
) -> None:
    """Analyze ``jobs`` in the slots of ``hosts``; ``done`` gets the number of each job with its outcomes, in any order."""
    waiting = iter(enumerate(jobs))

    async def work(slot: int) -> None:
        for index, job in waiting:
            try:
                outcomes = await request.analyze(job, hosts.of(slot), on_partial)
            except Exception as error:  # whatever goes wrong in here costs this file alone, and is told with it
                _log.debug("%s could not be analyzed.", job.file, exc_info=True)
                said = OUR_BUG.format(file=job.file, error=f"{type(error).__name__}: {error}".rstrip("."))
                outcomes = [request.failed(job, said)]
            done(index, outcomes)

    workers = [asyncio.create_task(work(slot)) for slot in hosts.slots[: len(jobs)]]
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
