"""Verifies quick fixes in the background while nothing else runs, and only where background runs are allowed.

Two are tried at a time where a text has several to try and the machine has room: another standby is started beside the first tries.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from compile_lens.analysis.filters import Filters
from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.documents.documents import Snapshot, file_key
from compile_lens.fixes.effect import FixEffect
from compile_lens.fixes.fix import Fix
from compile_lens.fixes.look_ahead import LookAhead
from compile_lens.fixes.next_fix import fixes_of_each
from compile_lens.fixes.verify import Verifier, why_not_verified
from compile_lens.lsp.language_server import AnyHost, CompileLensServer
from compile_lens.lsp.runs import Runs
from compile_lens.pipeline.scheduler import Reason
from compile_lens.state.consent import Permission
from compile_lens.workers.host import HostError
from compile_lens.workers.interpreter import InterpreterError
from compile_lens.workers.job import Job
from compile_lens.workers.room import has_room

log = logging.getLogger(__name__)

# per version of a document; those of the costliest findings come first
MOST = 16
# fixes to try, for which a second standby is worth its start
SEVERAL = 3


@dataclass(frozen=True, slots=True)
class Turns:
    """Each run waits for its own turn at the host of an interpreter, so that the runs of files come in between."""

    python: str
    reason: Reason


class FixChecks:
    """Fills ``effect``. A run interrupts the checks, and restarts them when it ends."""

    def __init__(self, server: CompileLensServer, runs: Runs) -> None:
        # of the newest text of each document that was checked
        self._verifiers: dict[str, Verifier] = {}
        # the outcomes of which the log says why their fixes are not tried, by document
        self._told: dict[str, Outcome] = {}
        self._server = server
        self._runs = runs
        self._task: asyncio.Task[None] | None = None
        self._held_off = 0
        runs.on_change(self._changed)

    @contextmanager
    def held_off(self) -> Iterator[None]:
        """Nothing is checked in the background meanwhile: the user waits for something else."""
        self._held_off += 1
        self._changed()
        try:
            yield
        finally:
            self._held_off -= 1
            self._changed()

    def _changed(self) -> None:
        server = self._server
        if self._held_off or server.scheduler.active() or not server.trusted or server.stopped.is_set():
            if self._task is not None:
                self._task.cancel()
                self._task = None
        elif self._task is None or self._task.done():
            self._task = server.background.start(self._check_all())

    async def _check_all(self) -> None:
        snapshots = list(self._server.documents.all())
        open_now = {snapshot.uri for snapshot in snapshots}
        self._verifiers = {uri: verifier for uri, verifier in self._verifiers.items() if uri in open_now}
        self._told = {uri: outcome for uri, outcome in self._told.items() if uri in open_now}
        starts: dict[str, asyncio.Task[None]] = {}
        try:
            for snapshot in snapshots:
                await self._check(snapshot, starts)
            await asyncio.gather(*starts.values())
        except (HostError, InterpreterError) as error:
            log.info("Quick fixes are not verified: %s", error)
        finally:
            for start in starts.values():
                start.cancel()
            await asyncio.gather(*starts.values(), return_exceptions=True)

    async def _check(self, snapshot: Snapshot, starts: dict[str, asyncio.Task[None]]) -> None:
        """Try the fixes of one text. ``starts`` are those of a second standby, by interpreter."""
        server, path = self._server, snapshot.path
        outcome = server.results.outcome(snapshot.uri)
        if path is None or outcome is None:
            return
        if why := why_not_verified(outcome):
            if self._told.get(snapshot.uri) is not outcome:
                self._told[snapshot.uri] = outcome
                log.info("%s: quick fixes are not verified: %s", Path(path).name, why)
            return
        # not those of classes that were analyzed as if compiled: the run that is compared with does not have them
        findings = sorted(
            server.results.findings(file_key(path), with_beside=False), key=lambda finding: -finding.weight
        )
        offered = await asyncio.to_thread(fixes_of_each, snapshot.text, findings, outcome.torch)
        if not self._may_check(snapshot, path):
            return
        turns = Turns(self._runs.interpreter(path), Reason.CHECKED)
        verifier = self.verifier(snapshot, path, outcome)
        checks = LookAhead(
            offered,
            verifier,
            lambda fix: verifier.find_effect(turns, fix),
            MOST,
            lambda: server.hosts.width(turns.python) if self._may_check(snapshot, path) else 0,
            lambda: verifier.run_eagerly(turns),
        )
        untried = {fix for each in offered for fix in each.fixes} - verifier.known.keys()
        if len(untried) >= SEVERAL and turns.python not in starts:
            starts[turns.python] = asyncio.create_task(self._start_second(turns.python))
        async with checks.tried() as fixes:
            async for fix in fixes:
                log.info("%s: %s, %s", Path(path).name, fix.rule, verifier.known[fix])
                if not self._may_check(snapshot, path):
                    return

    async def _start_second(self, python: str) -> None:
        """Have another standby; until it has started, one fix is tried at a time. A run that begins cancels the start."""
        hosts = self._server.hosts
        if hosts.width(python) > 1:
            return
        if not await asyncio.to_thread(has_room):
            log.info("One fix is tried at a time: the machine has no room for a second standby")
            return
        if hosts.has(python):
            host = hosts.second(python)
            try:
                await host.start()
            except HostError as error:
                log.info("One fix is tried at a time: %s", error)
                await hosts.leave_second(python)
            else:
                hosts.take_part(python, host)

    def verifier(self, snapshot: Snapshot, path: str, before: Outcome) -> Verifier:
        """What verifies fixes of this text, whose run had the outcome ``before``. It takes ``Turns`` for a host."""
        verifier = self._verifiers.get(snapshot.uri)
        if verifier is None or verifier.text != snapshot.text or verifier.before is not before:
            job = self._runs.jobs.of_last_run(snapshot.uri, path, snapshot)
            verifier = self._verifiers[snapshot.uri] = Verifier(self._analyze, job, snapshot.text, before)
        return verifier

    async def _analyze(self, turns: Turns, job: Job, on_partial: None, filters: Filters) -> Outcome:
        hosts = self._server.hosts
        if turns.reason is Reason.CHECKED and hosts.width(turns.python) > 1:
            # two at a time take no more memory than one: each gets half
            half = replace(job, budget=replace(job.budget, share=job.budget.share / 2))
            try:
                outcome = await self._run(hosts.turn_at_either(turns.python, turns.reason), half, on_partial, filters)
            except HostError as error:
                log.info("One fix is tried at a time: %s", error)
                await hosts.leave_second(turns.python)
            else:
                if not _may_lack_memory(outcome):
                    return outcome
        outcome = await self._run(hosts.turn(turns.python, turns.reason), job, on_partial, filters)
        if outcome.lost:  # its agent is replaced: what happened to a process of ours is not what the fix does
            outcome = await self._run(hosts.turn(turns.python, turns.reason), job, on_partial, filters)
        return outcome

    async def _run(
        self, turn: AbstractAsyncContextManager[AnyHost], job: Job, on_partial: None, filters: Filters
    ) -> Outcome:
        async with turn as host:
            await host.start()
            return await self._server.analyze(host, job, on_partial, filters)

    def effect(self, snapshot: Snapshot, fix: Fix) -> FixEffect | None:
        """What ``fix`` does to this text, if that was checked."""
        verifier = self._verifiers.get(snapshot.uri)
        return verifier.known.get(fix) if verifier is not None and verifier.text == snapshot.text else None

    def why_not(self, snapshot: Snapshot) -> str:
        """Why the effect of a fix of this text is not known, as a clause."""
        server = self._server
        outcome = server.results.outcome(snapshot.uri)
        if not server.settings.fixes.verify:
            return "compileLens.fixes.verify is off"
        if snapshot.uri in server.scheduler.active():
            return "the run has not ended"
        if outcome is None or self._runs.last.text(snapshot.uri) != snapshot.text:
            return "the text has changed since the run"
        if snapshot.path is None or self._runs.permissions.of(snapshot.path) is not Permission.ALLOWED:
            return "background runs are not allowed"
        return why_not_verified(outcome) or "not tried yet"

    def _may_check(self, snapshot: Snapshot, path: str) -> bool:
        """Evaluated before each check, since settings, permission and text may have changed."""
        server, now = self._server, self._server.documents.get(snapshot.uri)
        last_text = self._runs.last.text(snapshot.uri)
        is_current = now is not None and now.text == snapshot.text == last_text
        return is_current and server.settings.fixes.verify and self._runs.permissions.of(path) is Permission.ALLOWED


def _may_lack_memory(outcome: Outcome) -> bool:
    """Whether a run may have ended because its share of memory was too small."""
    return outcome.status is Status.KILLED or any("memory" in each.message.lower() for each in outcome.unfiltered)
