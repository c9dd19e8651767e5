"""Saves a run: a file of which only comments, docstrings or functions that nothing reaches have changed keeps the outcome of its last
run."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from compile_lens.analysis.outcome import Outcome
from compile_lens.documents.documents import Snapshot
from compile_lens.entries.entry import EntryChoice, EntryKind
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.lsp.last_runs import LastRuns
from compile_lens.pipeline.same_program import (
    Surroundings,
    is_same,
    is_same_program,
    is_same_where_reached,
    surroundings_of,
    without_untried,
)
from compile_lens.workers.job import Job
from compile_lens.workers.syntax_question import ask_for_syntax_error


class KeptRuns:
    """What the last run of each document depended on."""

    def __init__(self, server: CompileLensServer, last: LastRuns) -> None:
        self._server = server
        self._last = last
        self._surroundings: dict[str, Surroundings] = {}
        self._saved: dict[str, str] = {}

    def saved(self, uri: str, text: str) -> None:
        """The user saved a document. Who saves again what has not changed asks for a run, even while the first save is looked at."""
        if self._saved.get(uri) == text:
            self._surroundings.pop(uri, None)
        self._saved[uri] = text

    def forget(self, uri: str) -> None:
        """The document was closed, or no longer compiles anything."""
        self._surroundings.pop(uri, None)
        self._saved.pop(uri, None)

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
        if moved is None or not await self._is_same(uri, before, snapshot.text, now):
            return None
        if self._server.documents.get(uri) != snapshot:  # edited meanwhile
            return None
        self._server.results.publish(uri, moved, lambda _: [])
        self._last.ended(uri, "", snapshot, self._last.entry(uri))
        return moved

    async def _is_same(self, uri: str, before: str, now: str, surroundings: Surroundings) -> bool:
        """Whether what ran last would do the same with the text of ``now``."""
        if await asyncio.to_thread(is_same_program, before, now):
            return True
        entry = self._last.entry(uri)
        if entry is None or entry.kind is not EntryKind.SCRIPT:
            return False  # other entries find functions by their names
        others = [Path(file) for file, _ in surroundings.modules]
        if not await asyncio.to_thread(is_same_where_reached, before, now, others):
            return False
        python = surroundings.packages[0]
        if await asyncio.to_thread(_is_this_python, python):
            return True  # it has compiled the text
        return await ask_for_syntax_error(python, surroundings.job.file, now) is None


def _is_this_python(python: str) -> bool:
    return Path(python).resolve() == Path(sys.executable).resolve()
