"""When a file runs, and what becomes of what the run tells."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from compile_lens.analysis.finding import Kind
from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.documents.documents import Snapshot
from compile_lens.documents.moves import LineEdit
from compile_lens.documents.source_file import FileProblem, read_source
from compile_lens.entries.entry import Entry, script
from compile_lens.entries.written import BadEntry
from compile_lens.lsp.convert import path_from_uri
from compile_lens.lsp.diagnostics import Diagnostics
from compile_lens.lsp.entries import Entries
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.lsp.markdown import amount
from compile_lens.lsp.permissions import Permissions
from compile_lens.lsp.progress import ProgressFeature, RunProgress
from compile_lens.lsp.run_requests import NOTHING_MORE, Asked
from compile_lens.lsp.status import StatusReporter
from compile_lens.pipeline.entry_choice import EntryChoice, analyze_by_entries
from compile_lens.pipeline.job_factory import job_of_settings
from compile_lens.pipeline.scheduler import Reason, Ticket
from compile_lens.state.consent import Permission
from compile_lens.syntax.regions import Region, find_regions
from compile_lens.workers.access import Access
from compile_lens.workers.cache_limit import limit
from compile_lens.workers.caches import cache_root
from compile_lens.workers.host import HostError
from compile_lens.workers.interpreter import InterpreterError, find_interpreter
from compile_lens.workers.job import Job

log = logging.getLogger(__name__)
SCRIPT_ALONE = EntryChoice((script(),), True)
OFF = {
    Permission.UNTRUSTED: "Off: this workspace is not trusted",
    Permission.REFUSED: "Off: background runs are not allowed for this workspace",
    Permission.ASK: "Waiting for your answer: may files of this workspace run?",
    Permission.UNSET: "Off: nothing runs in the background until compileLens.run.enabled is set to ask or always",
}
UNSET = (
    "Compile Lens runs nothing in the background yet, since this editor does not say whether you trust a workspace: set "
    "compileLens.run.enabled to ask or always, or run the command compileLens.allowWorkspace."
)


class Runs:
    """Decides what runs, runs it, and hands what it finds to the editor."""

    def __init__(
        self,
        server: CompileLensServer,
        permissions: Permissions,
        diagnostics: Diagnostics,
        progress: ProgressFeature,
        status: StatusReporter,
        entries: Entries,
    ) -> None:
        self.permissions = permissions
        self.entries = entries
        self._server = server
        self._diagnostics = diagnostics
        self._progress = progress
        self._status = status
        self._regions: dict[str, tuple[int, tuple[Region, ...]]] = {}
        self._warned: set[str] = set()
        self._listeners: list[Callable[[], None]] = []
        self._ran: dict[str, str] = {}
        self._followers: list[Callable[[str, Outcome | None, Mapping[str, int]], None]] = []
        self._used: dict[str, Entry | None] = {}

    def listen(self, listener: Callable[[], None]) -> None:
        """Call ``listener`` when a run begins or ends, when it tells something, and when settings change."""
        self._listeners.append(listener)

    def follow(self, follower: Callable[[str, Outcome | None, Mapping[str, int]], None]) -> None:
        """Tell ``follower`` of each run that ends: the document, the outcome, and the versions of documents that it read. The outcome
        is None when what was found is taken back."""
        self._followers.append(follower)

    def is_active(self, uri: str) -> bool:
        """Whether the document is being analysed, or waits for it."""
        return uri in self._server.scheduler.active()

    def text_of_last_run(self, uri: str) -> str | None:
        """The text that the newest outcome of a document is about, if that was an open one's."""
        return self._ran.get(uri)

    def regions(self, snapshot: Snapshot) -> tuple[Region, ...]:
        """The compile regions of a version, found once."""
        known = self._regions.get(snapshot.uri)
        if known is None or known[0] != snapshot.version:
            known = self._regions[snapshot.uri] = (snapshot.version, find_regions(snapshot.text))
        return known[1]

    def consider(self, snapshot: Snapshot, reason: Reason) -> None:
        """A document was opened or saved: run it if it has a region, the settings say so and the user agreed."""
        path = snapshot.path
        if path is None or not snapshot.is_python:
            return
        if not self.regions(snapshot):
            self.forget(snapshot.uri)
            return
        run = self._server.settings.run
        wanted = run.on_open if reason is Reason.OPENED else run.on_save
        allowed = self.permissions.of(path)
        if allowed is Permission.ALLOWED:
            if wanted:
                self._submit(snapshot.uri, snapshot, reason)
            else:
                self._server.background.start(self._warm(path))
            return
        self._status.off(OFF[allowed])
        if allowed is Permission.UNSET and UNSET not in self._warned:
            self._warned.add(UNSET)
            self._server.warn(UNSET)
        if allowed is Permission.ASK and wanted:
            self._ask(path)

    def consider_all(self) -> None:
        """Trust, consent or settings changed: look at every open document as if it was just opened."""
        for snapshot in self._server.documents.all():
            self.consider(snapshot, Reason.OPENED)
        self._tell()

    async def analyze(self, uri: str, asked: Asked = NOTHING_MORE) -> Outcome | None:
        """Run a file because the user asked for it. None when it was cancelled, or another request took its place."""
        task = self._submit(uri, self._server.documents.get(uri), Reason.REQUESTED, asked)
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            if not task.done():
                self.cancel(uri)
            raise
        return None if task.cancelled() else task.result()

    def cancel(self, uri: str | None = None) -> bool:
        """End the run of a document, or all runs; whether there was any."""
        cancelled = self._server.scheduler.cancel(uri)
        if cancelled:
            self.settle(uri)
        return cancelled

    def forget(self, uri: str) -> None:
        """The document was closed, or has nothing to compile any more: end its run and take back what it found."""
        self._regions.pop(uri, None)
        self._ran.pop(uri, None)
        self._used.pop(uri, None)
        cancelled = self._server.scheduler.cancel(uri)
        changed = self._take_back(uri)
        if cancelled or changed:
            self.settle(uri)

    def edited(self, key: str, edits: list[LineEdit]) -> None:
        """The user typed in the file ``key``: what is known of it moves along."""
        self._diagnostics.show(self._server.results.edit(key, edits), edited=key)

    async def stop(self, reason: Permission) -> None:
        """Nothing may run any more: end runs and standbys."""
        self._status.off(OFF[reason])
        await self._server.scheduler.close()
        self._tell()
        await self._server.hosts.close()

    def settle(self, finished: str | None = None) -> None:
        """Say that nothing runs, unless something besides ``finished`` does."""
        if any(uri != finished for uri in self._server.scheduler.active()):
            return
        if self._server.trusted:
            self._status.idle()
        else:
            self._status.off(OFF[Permission.UNTRUSTED])

    def _submit(
        self, uri: str, snapshot: Snapshot | None, reason: Reason, asked: Asked = NOTHING_MORE
    ) -> asyncio.Task[Outcome | None]:
        task = self._server.scheduler.submit(uri, reason, partial(self._run, snapshot, asked))
        task.add_done_callback(lambda _: self._tell())
        self._tell()
        return task

    def _take_back(self, uri: str) -> set[str]:
        """What the last run of a document found is no longer so; the keys of the files that it was about."""
        changed = self._server.results.forget(uri)
        self._diagnostics.show(changed)
        self._tell_followers(uri, None, {})
        return changed

    def _tell_followers(self, uri: str, outcome: Outcome | None, versions: Mapping[str, int]) -> None:
        for follower in self._followers:
            follower(uri, outcome, versions)

    def _tell(self) -> None:
        for listener in self._listeners:
            listener()

    async def _run(self, snapshot: Snapshot | None, asked: Asked, ticket: Ticket) -> Outcome | None:
        path = path_from_uri(ticket.uri)
        if path is None:
            return None
        progress = self._progress.start(f"{Path(path).name}: starting", partial(self.cancel, ticket.uri))
        try:
            choice = SCRIPT_ALONE
            if not asked.up_to:
                # where that cannot be known, the run says what is wrong with the file
                with contextlib.suppress(FileProblem):
                    text = snapshot.text if snapshot is not None else None
                    choice = await self.entries.choice(path, text, asked.candidate)
            job = asked.of(self.job(path, snapshot, asked.access), _text_of(path, snapshot))
            outcome = await self._analyze(path, job, snapshot, choice, ticket, progress)
        except (HostError, InterpreterError, BadEntry, FileProblem) as error:
            self._take_back(ticket.uri)
            self._problem(str(error), ticket)
            return None
        except Exception:
            log.exception("The analysis of %s failed", path)
            self._status.problem(f"Compile Lens failed on {Path(path).name}; its log says why", ticket.uri)
            return None
        finally:
            self._progress.finish(progress)
        if outcome.status is Status.FAILED:
            self._problem(outcome.failure, ticket)
        else:
            self.settle(ticket.uri)
        return outcome

    async def _analyze(
        self, path: str, job: Job, snapshot: Snapshot | None, choice: EntryChoice, ticket: Ticket, progress: RunProgress
    ) -> Outcome:
        server, name = self._server, Path(path).name
        python = self.interpreter(path)
        async with server.hosts.turn(python, ticket.reason) as host:
            if host.hello is None:
                self._status.working("starting", f"Starting {python}", ticket.uri)
            try:
                await host.start()
            except HostError as error:
                raise HostError(f"{error}{_pause(server.hosts.failed(python))}") from None
            self._status.working("analysing", f"Analyzing {name}", ticket.uri)
            progress.report(f"{name}: running")
            # what the run reads: this document as it was when the run was asked for, the others as they are on disk
            versions = server.documents.versions_on_disk()
            if snapshot is not None:
                versions[ticket.uri] = snapshot.version

            def show(outcome: Outcome) -> None:
                if server.scheduler.is_current(ticket):
                    self._diagnostics.show(server.results.publish(ticket.uri, outcome, partial(self._edits, versions)))
                    self._tell()
                    progress.report(f"{name}: {_summary(outcome)}")

            outcome = await analyze_by_entries(server.analyze, host, job, choice, show, server.settings.filters)
            show(outcome)
            for note in outcome.notes:
                log.info("%s: %s", name, note)
            if outcome.lost:
                raise HostError(f"The analysis of {name} lost its process.{_pause(server.hosts.failed(python))}")
            server.hosts.succeeded(python)
            await asyncio.to_thread(self.entries.calls.take_run, outcome)
            self._used[ticket.uri] = next((e for e in choice.entries if e.spec == outcome.entry), None)
            if snapshot is not None:
                self._ran[ticket.uri] = snapshot.text
            if server.scheduler.is_current(ticket):
                self._tell_followers(ticket.uri, outcome, versions)
        server.background.start(self._warm(path))
        server.background.start(self._limit_caches())
        return outcome

    async def _limit_caches(self) -> None:
        await asyncio.to_thread(limit, cache_root(os.environ), int(self._server.settings.cache.limit * 1e9))

    def job_of_last_run(self, uri: str, path: str, snapshot: Snapshot) -> Job:
        """How a file runs with the entry that its last run took."""
        entry = self._used.get(uri)
        job = self.job(path, snapshot)
        return job if entry is None else replace(job, entry=entry.spec, plan=entry.plan)

    def job(self, path: str, snapshot: Snapshot | None, access: Access = Access.SANDBOXED) -> Job:
        """How a file runs as a script: as the settings say, with the text of ``snapshot`` where that is not what is on disk."""
        server = self._server
        text = None if snapshot is None else server.sources.unsaved(path, snapshot.text)
        allowed = access if server.trusted else Access.NONE
        return job_of_settings(server.settings, path, text, server.root_of(path), allowed)

    def _edits(self, versions: dict[str, int], key: str) -> list[LineEdit] | None:
        uri = self._server.documents.uri_of_key(key)
        return [] if uri is None else self._server.documents.edits_since(uri, versions.get(uri))

    def interpreter(self, path: str) -> str:
        """The interpreter that runs a file. Raises InterpreterError."""
        server = self._server
        return find_interpreter(Path(path), server.folders(), server.settings.python or None)

    def _ask(self, path: str) -> None:
        try:
            python = self.interpreter(path)
        except InterpreterError as error:
            self._problem(str(error))
            return
        self.permissions.ask(path, python, self.consider_all)

    async def _warm(self, path: str) -> None:
        """Have a standby ready for the next run of a file."""
        try:
            await self._server.hosts.host(self.interpreter(path)).start()
        except (HostError, InterpreterError) as error:
            self._problem(str(error))
        else:
            self.settle()

    def _problem(self, sentence: str, ticket: Ticket | None = None) -> None:
        """Tell the user what stands in the way: in the status, and in words where there is none or the user asked."""
        self._status.problem(sentence, ticket.uri if ticket else None)
        asked = ticket is not None and ticket.reason is Reason.REQUESTED
        if asked or (not self._server.client.status and sentence not in self._warned):
            self._warned.add(sentence)
            self._server.warn(f"Compile Lens: {sentence}")


def _pause(seconds: float) -> str:
    return f" Background runs wait {seconds:.0f} s before the next try."


def _text_of(path: str, snapshot: Snapshot | None) -> str:
    if snapshot is not None:
        return snapshot.text
    try:
        return read_source(Path(path))
    except FileProblem:
        return ""


def _summary(outcome: Outcome) -> str:
    counts = Counter(finding.kind for finding in outcome.findings)
    nouns = {Kind.GRAPH_BREAK: "graph break", Kind.RECOMPILE: "recompile"}
    return ", ".join(amount(counts[kind], noun) for kind, noun in nouns.items() if counts[kind]) or "running"
