"""Decides when files run, runs them, and publishes what they find."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.documents.documents import Snapshot
from compile_lens.documents.moves import LineEdit
from compile_lens.documents.source_file import FileProblem
from compile_lens.entries.entry import EntryChoice, script
from compile_lens.entries.entry_spec import BadEntry
from compile_lens.lsp.convert import path_from_uri
from compile_lens.lsp.diagnostics import Diagnostics
from compile_lens.lsp.document_facts import DocumentFactsOf
from compile_lens.lsp.entries import Entries
from compile_lens.lsp.filter_again import filter_again
from compile_lens.lsp.kept_runs import KeptRuns
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.lsp.last_runs import LastRuns
from compile_lens.lsp.permissions import Permissions
from compile_lens.lsp.progress import ProgressFeature, RunProgress, summary_of
from compile_lens.lsp.run_jobs import RunJobs
from compile_lens.lsp.run_requests import PLAIN_RUN, RunRequest, text_of
from compile_lens.lsp.standby import Standbys
from compile_lens.lsp.status import StatusReporter
from compile_lens.pipeline.as_if import answer_about
from compile_lens.pipeline.entry_choice import analyze_by_entries
from compile_lens.pipeline.scheduler import Reason, Ticket
from compile_lens.pipeline.syntax_check import syntax_outcome
from compile_lens.repro.contract import FIRST_LINE as REPRO
from compile_lens.state.consent import Permission
from compile_lens.syntax.regions import Region
from compile_lens.workers.cache_limit import limit
from compile_lens.workers.caches import cache_root
from compile_lens.workers.host import HostError
from compile_lens.workers.interpreter import InterpreterError
from compile_lens.workers.job import Job

log = logging.getLogger(__name__)
SCRIPT_ONLY = EntryChoice((script(),), True)
OFF = {
    Permission.UNTRUSTED: "Off: this workspace is not trusted",
    Permission.REFUSED: "Off: background runs are not allowed in this workspace",
    Permission.ASK: "Waiting for your permission to run files of this workspace",
    Permission.UNSET: "Off: set compileLens.run.enabled to ask or always to allow background runs",
}
UNSET = (
    "Compile Lens does not run files in the background, because this editor does not report workspace trust. Set "
    "compileLens.run.enabled to ask or always, or run the command compileLens.allowWorkspace."
)


class Runs:
    """Schedules the runs of documents and publishes their outcomes."""

    def __init__(
        self,
        server: CompileLensServer,
        permissions: Permissions,
        diagnostics: Diagnostics,
        progress: ProgressFeature,
        status: StatusReporter,
        entries: Entries,
        facts: DocumentFactsOf,
    ) -> None:
        self.permissions = permissions
        self.entries = entries
        self._server = server
        self._diagnostics = diagnostics
        self._progress = progress
        self._status = status
        self._facts = facts
        # why to consider a long document once it has been read
        self._unread: dict[str, Reason] = {}
        facts.on_ready(self._on_ready)
        self._standbys = Standbys(server, permissions, self._problem, self.show_idle, self.consider_all)
        self._warned: set[str] = set()
        self._on_change: list[Callable[[], None]] = []
        self.last = LastRuns()
        self._kept = KeptRuns(server, self.last)
        self.jobs = RunJobs(server, self.last)
        self._on_end: list[Callable[[str, Outcome | None, Mapping[str, int]], None]] = []
        self._again: asyncio.Task[None] | None = None

    def on_change(self, listener: Callable[[], None]) -> None:
        """Call ``listener`` when a run starts, reports or ends, and when settings change."""
        self._on_change.append(listener)

    def on_end(self, listener: Callable[[str, Outcome | None, Mapping[str, int]], None]) -> None:
        """Call ``listener`` for each run that ends with the document, the outcome, and the versions of the documents that it read.

        The outcome is None when the results of a document are withdrawn.
        """
        self._on_end.append(listener)

    def is_active(self, uri: str) -> bool:
        """Whether a run of the document is active or pending."""
        return uri in self._server.scheduler.active()

    def regions(self, snapshot: Snapshot) -> tuple[Region, ...]:
        """The compile regions of a document, as far as they are known now."""
        return self._facts.of(snapshot).regions

    def region_at(self, snapshot: Snapshot, line: int) -> str | None:
        """The name of the innermost compile region that a line (from 1) is in; None if it is in none."""
        around = [
            region
            for region in self.regions(snapshot)
            if region.line <= line <= region.end_line
            or (region.target_line is not None and region.target_line <= line <= (region.target_end_line or 0))
        ]
        return min(around, key=lambda region: region.end_line - region.line).name if around else None

    def _on_ready(self, snapshot: Snapshot) -> None:
        reason = self._unread.pop(snapshot.uri, None)
        if reason is not None:
            self.consider(snapshot, reason)
        self._notify()

    def consider(self, snapshot: Snapshot, reason: Reason) -> None:
        """Run a document that was opened or saved, if it has a region, the settings say so, and the user agreed."""
        path = snapshot.path
        if path is None or not snapshot.is_python:
            return
        if not self._facts.are_known(snapshot):
            self._unread[snapshot.uri] = reason
            return
        if snapshot.text.startswith(REPRO):
            return  # it runs its region many times, and says by itself what came out
        run = self._server.settings.run
        wanted = run.on_save if reason is Reason.SAVED else run.on_open
        allowed = self.permissions.of(path)
        facts = self._facts.of(snapshot)
        has_regions = bool(facts.regions) or facts.hides_regions
        if has_regions and wanted and allowed is Permission.ALLOWED:
            if reason is Reason.SAVED:
                self._kept.saved(snapshot.uri, snapshot.text)
            self._submit(snapshot.uri, snapshot, reason)
            return
        if reason is Reason.OPENED:
            self._standbys.opened(snapshot)
        if not has_regions:
            self.forget(snapshot.uri)
            return
        if allowed is Permission.ALLOWED:
            return
        self._status.off(OFF[allowed])
        if allowed is Permission.UNSET and UNSET not in self._warned:
            self._warned.add(UNSET)
            self._server.warn(UNSET)
        if allowed is Permission.ASK and wanted:
            self._standbys.ask(path)
        self._notify()

    def consider_all(self, run_again: bool = True) -> None:
        """Trust, consent or settings changed: treat every open document as if it had just been opened, one after the other, those
        that are looked at first. Without ``run_again``, those that have a result keep it.
        """
        if self._again is not None:
            self._again.cancel()
        waiting = []
        for snapshot in reversed(self._server.documents.all()):
            has_result = self._server.results.outcome(snapshot.uri) is not None or self.is_active(snapshot.uri)
            if snapshot.path is None or self.permissions.of(snapshot.path) is not Permission.ALLOWED:
                self.consider(snapshot, Reason.OPENED)
            elif run_again or not has_result:
                waiting.append(snapshot.uri)
        self._again = self._server.background.start(self._consider_each(waiting))
        self._notify()

    async def _consider_each(self, uris: list[str]) -> None:
        for uri in uris:
            snapshot = self._server.documents.get(uri)
            if snapshot is not None:
                self.consider(snapshot, Reason.OPENED)
                await self._server.scheduler.settled(uri)

    async def filter_again(self) -> None:
        """Severities or the cap per file changed: show what the runs found by the new ones."""
        self._diagnostics.show(await filter_again(self._server))
        self.show_idle()

    async def analyze(self, uri: str, request: RunRequest = PLAIN_RUN) -> Outcome | None:
        """Run a file at the user's request. None if it was canceled, or replaced by another request."""
        if request.beside:
            await self._server.scheduler.settled(uri)
        task = self._submit(uri, self._server.documents.get(uri), Reason.REQUESTED, request)
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            if not task.done():
                self.cancel(uri)
            raise
        return None if task.cancelled() else task.result()

    def cancel(self, uri: str | None = None) -> bool:
        """Cancel the run of a document, or all runs. Returns whether there was one."""
        cancelled = self._server.scheduler.cancel(uri)
        if cancelled:
            self.show_idle(uri)
        return cancelled

    def forget(self, uri: str) -> None:
        """The document was closed, or no longer compiles anything: cancel its run and withdraw its results."""
        self._unread.pop(uri, None)
        self.last.forget(uri)
        self._kept.forget(uri)
        cancelled = self._server.scheduler.cancel(uri)
        changed = self._withdraw(uri)
        if cancelled or changed:
            self.show_idle(uri)

    def edited(self, key: str, edits: list[LineEdit]) -> None:
        """The user typed in the file ``key``: move its findings with the text."""
        self._diagnostics.show(self._server.results.edit(key, edits), edited=key)

    async def stop(self, reason: Permission) -> None:
        """Background runs are no longer allowed: end runs and standbys."""
        self._status.off(OFF[reason])
        if self._again is not None:
            self._again.cancel()
        await self._server.scheduler.close()
        self._notify()
        await self._server.hosts.close()

    def show_idle(self, finished: str | None = None) -> None:
        """Show the idle status, unless something besides ``finished`` is running."""
        if any(uri != finished for uri in self._server.scheduler.active()):
            return
        if self._server.trusted:
            self._status.idle()
        else:
            self._status.off(OFF[Permission.UNTRUSTED])

    def _submit(
        self, uri: str, snapshot: Snapshot | None, reason: Reason, request: RunRequest = PLAIN_RUN
    ) -> asyncio.Task[Outcome | None]:
        task = self._server.scheduler.submit(uri, reason, partial(self._run, snapshot, request))
        task.add_done_callback(lambda _: self._notify())
        self._notify()
        return task

    def _withdraw(self, uri: str) -> set[str]:
        """Withdraw the results of a document's last run; returns the keys of the files that they were about."""
        changed = self._server.results.forget(uri)
        self._diagnostics.show(changed)
        self._notify_end(uri, None, {})
        return changed

    def _withdraw_answers(self, uri: str, snapshot: Snapshot | None) -> None:
        """The file ran again: what was said of classes and functions of another text is out of date."""
        for name in self._server.results.beside(uri):
            if snapshot is None or self.last.text(uri, name) != snapshot.text:
                self._diagnostics.show(self._server.results.forget_beside(uri, name))

    def _notify_end(self, uri: str, outcome: Outcome | None, versions: Mapping[str, int]) -> None:
        for listener in self._on_end:
            listener(uri, outcome, versions)

    def _notify(self) -> None:
        for listener in self._on_change:
            listener()

    async def _run(self, snapshot: Snapshot | None, request: RunRequest, ticket: Ticket) -> Outcome | None:
        path = path_from_uri(ticket.uri)
        if path is None:
            return None
        progress = self._progress.start(f"{Path(path).name}: starting", partial(self.cancel, ticket.uri))
        try:
            choice = SCRIPT_ONLY
            if not request.up_to:
                try:
                    given = snapshot.text if snapshot is not None else None
                    choice = await self.entries.choice(path, given, request.candidate)
                except FileProblem:
                    pass  # a file that cannot be read is reported by the run itself
            text = await asyncio.to_thread(text_of, path, snapshot)
            job = await asyncio.to_thread(lambda: request.of(self.jobs.job(path, snapshot, request.access), text))
            now = await self._kept.surroundings(job, choice, self.interpreter(path))
            kept = await self._kept.keep(ticket.uri, snapshot, now) if ticket.reason is Reason.SAVED else None
            if kept is not None:
                self._notify_end(ticket.uri, kept, self.jobs.versions(ticket.uri, snapshot))
            outcome = kept or await self._analyze(job, text, snapshot, choice, ticket, progress, request)
            if not request.beside:
                self._kept.ran(ticket.uri, now, outcome)
        except (HostError, InterpreterError, BadEntry, FileProblem) as error:
            if not request.beside:
                self._withdraw(ticket.uri)
            self._problem(str(error), ticket)
            return None
        except Exception:  # a bug of ours: it goes to the log and the status, and the server lives on
            log.exception("The analysis of %s failed", path)
            self._status.bug(f"Compile Lens failed on {Path(path).name}. See the log.", ticket.uri)
            return None
        finally:
            self._progress.finish(progress)
        if outcome.status is Status.FAILED:
            self._problem(outcome.failure, ticket)
        else:
            self.show_idle(ticket.uri)
        return outcome

    async def _analyze(
        self,
        job: Job,
        text: str,
        snapshot: Snapshot | None,
        choice: EntryChoice,
        ticket: Ticket,
        progress: RunProgress,
        request: RunRequest,
    ) -> Outcome:
        """Run ``job`` and publish what it finds."""
        server, path, name, beside = self._server, job.file, Path(job.file).name, request.beside
        python = self.interpreter(path)
        versions = self.jobs.versions(ticket.uri, snapshot)

        def show(outcome: Outcome) -> None:
            if server.scheduler.is_current(ticket):
                edits = partial(
                    self._server.documents.edits_to_file, versions=versions
                )  # of the time when the files were read
                self._diagnostics.show(server.results.publish(ticket.uri, outcome, edits, beside))
                self._notify()
                progress.report(f"{name}: {summary_of(outcome)}")

        # known before any process has imported torch
        broken = await syntax_outcome(python, job, text) if not beside else None
        if broken is not None:
            show(broken)
        about = await asyncio.to_thread(answer_about, beside, text) if beside else None

        def tell(outcome: Outcome) -> None:
            show(about(outcome) if about is not None else outcome)

        async with server.hosts.turn(python, ticket.reason) as host:
            if host.hello is None:
                self._status.working("starting", f"Importing torch in {python}", ticket.uri)
                progress.report(f"{name}: waiting for {python} to import torch")
            try:
                await host.start()
            except HostError as error:
                raise HostError(f"{error}{_pause(server.hosts.failed(python))}") from None
            self._standbys.environment.show(python, host.hello)
            self._status.working("analyzing", f"Analyzing {name}", ticket.uri)
            progress.report(f"{name}: running")
            versions = self.jobs.versions(ticket.uri, snapshot)
            way = request.stages or server.analyze
            outcome = await analyze_by_entries(way, host, job, choice, tell, server.settings.filters)
            tell(outcome)
            for note in outcome.notes:
                log.info("%s: %s", name, note)
            if outcome.lost:
                raise HostError(
                    f"The process that analyzed {name} ended unexpectedly.{_pause(server.hosts.failed(python))}"
                )
            server.hosts.succeeded(python)
            await asyncio.to_thread(self.entries.calls.take_run, outcome)
            entry = next((e for e in choice.entries if e.spec == outcome.entry), None)
            self.last.ended(ticket.uri, beside, snapshot, entry)
            if not beside:
                self._withdraw_answers(ticket.uri, snapshot)
            if server.scheduler.is_current(ticket) and not beside:
                self._notify_end(ticket.uri, outcome, versions)
        server.background.start(self._standbys.start(path))
        server.background.start(self._limit_caches())
        return outcome

    async def _limit_caches(self) -> None:
        await asyncio.to_thread(limit, cache_root(os.environ), int(self._server.settings.cache.limit * 1e9))

    def interpreter(self, path: str) -> str:
        """The interpreter that runs a file. Raises InterpreterError."""
        return self._standbys.interpreter(path)

    def _problem(self, sentence: str, ticket: Ticket | None = None) -> None:
        """Show why nothing runs: in the status, and as a message if there is no status or the user requested the run."""
        log.warning("%s", sentence)
        self._status.problem(sentence, ticket.uri if ticket else None)
        requested = ticket is not None and ticket.reason is Reason.REQUESTED
        if requested or (not self._server.editor.shows_status and sentence not in self._warned):
            self._warned.add(sentence)
            self._server.warn(f"Compile Lens: {sentence}")


def _pause(seconds: float) -> str:
    return f" The next background run starts in {seconds:.0f} s."
