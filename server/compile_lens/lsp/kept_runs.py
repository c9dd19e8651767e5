"""Saves a run: a file whose comments or docstrings alone have changed keeps the outcome of its last run."""

from __future__ import annotations

import asyncio

from compile_lens.analysis.outcome import Outcome
from compile_lens.documents.documents import Snapshot
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.lsp.last_runs import LastRuns
from compile_lens.pipeline.entry_choice import EntryChoice
from compile_lens.pipeline.same_program import Surroundings, is_same, is_same_program, surroundings_of, without_untried
from compile_lens.workers.job import Job


class KeptRuns:
    """What the last run of each document depended on."""

    def __init__(self, server: CompileLensServer, last: LastRuns) -> None:
        self._server = server
        self._last = last
        self._surroundings: dict[str, Surroundings] = {}

    async def surroundings(self, job: Job, choice: EntryChoice, python: str) -> Surroundings:
        """What a run of ``job`` that starts now depends on, besides its text."""
        return await asyncio.to_thread(surroundings_of, job, choice, python)

    def ran(self, uri: str, surroundings: Surroundings, outcome: Outcome) -> None:
        """A run of the document itself came to its outcome."""
        self._surroundings[uri] = without_untried(surroundings, outcome)

    async def keep(self, uri: str, snapshot: Snapshot | None, now: Surroundings) -> Outcome | None:
        """The outcome of the last run, for the text of ``snapshot`` from now on; None if the file must run."""
        before = self._last.text(uri)
        depended = self._surroundings.get(uri)
        if snapshot is None or before is None or depended is None or not is_same(depended, now):
            return None
        moved = self._server.results.moved(uri)
        if moved is None or not await asyncio.to_thread(is_same_program, before, snapshot.text):
            return None
        if self._server.documents.get(uri) != snapshot:  # edited meanwhile
            return None
        self._server.results.publish(uri, moved, lambda _: [])
        self._last.ended(uri, "", snapshot, self._last.entry(uri))
        return moved
