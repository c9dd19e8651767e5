"""Repairs a file or a region for the editor: verified fixes one after the other, shown as a diff before the text changes."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from compile_lens.analysis.finding import Finding
from compile_lens.analysis.finding_regions import is_of_region
from compile_lens.documents.documents import Snapshot, file_key
from compile_lens.fixes.fix import Edit, Fix, tokens_changed
from compile_lens.fixes.offer import fixes_for
from compile_lens.fixes.repair import FIXABLE, WITHOUT_LOSS, Repair, Repaired, every_finding, in_turn, of_region
from compile_lens.fixes.verify import LONGEST_REQUESTED_S, CandidateFix, why_not_verified
from compile_lens.lsp.code_actions import command_action, text_edits, touches, workspace_edit
from compile_lens.lsp.convert import path_argument, to_diagnostic
from compile_lens.lsp.document_facts import DocumentFactsOf
from compile_lens.lsp.fix_checks import FixChecks, Turns
from compile_lens.lsp.fix_habits import FixHabits
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.lsp.offered import FIX_ALL_KIND
from compile_lens.lsp.pages import Pages
from compile_lens.lsp.progress import ProgressFeature, RunProgress
from compile_lens.lsp.runs import Runs
from compile_lens.pipeline.scheduler import Reason
from compile_lens.repro.history import history_file
from compile_lens.shown_text import code_block, markdown_text, visible

log = logging.getLogger(__name__)

FIX_ALL = "compileLens.fixAll"
CONFIRM_CHANGE = "compileLens/confirmChange"
APPLY, DISCARD = "Apply", "Discard"
# how many of the findings that remain a message tells
MOST_REASONS = 3


class _TextChanged(Exception):
    """The text changed while fixes were tried."""


class FixAll:
    """Offers to fix all findings. What an editor may apply while it saves is only what is verified already."""

    def __init__(
        self,
        server: CompileLensServer,
        runs: Runs,
        checks: FixChecks,
        facts: DocumentFactsOf,
        progress: ProgressFeature,
        habits: FixHabits,
        pages: Pages,
    ) -> None:
        self._server, self._runs, self._checks, self._facts = server, runs, checks, facts
        self._progress, self._habits, self._pages = progress, habits, pages
        # the last repair of a whole file, by document
        self._repaired: dict[str, Repaired] = {}
        self._running: set[str] = set()

    # -- what is offered

    def actions(self, snapshot: Snapshot, params: types.CodeActionParams) -> Iterator[types.CodeAction]:
        """The repair of the file, and at a finding that of its region; for an editor that saves, the edits that are known."""
        if snapshot.path is None or not self._server.trusted:
            return
        context = params.context
        wanted = [str(getattr(kind, "value", kind)) for kind in context.only or ()]
        if wanted and context.trigger_kind is not types.CodeActionTriggerKind.Invoked:
            # nobody looks at it: only for a user who has named this very kind in the settings
            if FIX_ALL_KIND in wanted:
                yield from self._known(snapshot)
            return
        found = self._fixable(snapshot)
        if not found:
            return
        of_file = ("Fix all findings of this file…", FIX_ALL, [snapshot.uri])
        yield command_action(*of_file, FIX_ALL_KIND)
        server, quick = self._server, types.CodeActionKind.QuickFix.value
        ranges = {finding: to_diagnostic(finding, server.sources, server.editor).range for finding in found}
        here = [finding for finding in found if touches(ranges[finding], params.range)]
        most = 1
        for name, of_it in self._by_region(snapshot, found).items():
            if len(of_it) > 1 and not of_it.isdisjoint(here):
                most = max(most, len(of_it))
                yield command_action(f"Fix all findings of `{name}`…", FIX_ALL, [snapshot.uri, name], quick)
        if here and len(found) > most:
            yield command_action(*of_file, quick)

    def _known(self, snapshot: Snapshot) -> Iterator[types.CodeAction]:
        """The edits of a repair of exactly this text, or of one fix that has been verified."""
        last = self._repaired.get(snapshot.uri)
        if last is not None and last.before == snapshot.text:
            edits: tuple[Edit, ...] = last.edits
        else:
            edits = next((candidate.fix.edits for candidate in self._proven(snapshot)), ())
        if edits:
            editor = self._server.editor
            made = workspace_edit(snapshot, text_edits(snapshot, edits, editor.encoding), editor.versioned_edits)
            yield types.CodeAction("Apply verified fixes", kind=FIX_ALL_KIND, edit=made)

    def _proven(self, snapshot: Snapshot) -> Iterator[CandidateFix]:
        """For each finding of a text that was run, the best fix that is known to help."""
        tree = self._facts.tree(snapshot)
        if tree is None:
            return
        others = self._server.results.findings(file_key(snapshot.path or ""), with_beside=False)
        torch = self._server.results.torch(snapshot.uri)
        for finding in in_turn(self._fixable(snapshot)):
            candidates = (
                CandidateFix(finding, fix, self._checks.effect(snapshot, fix), tokens_changed(snapshot.text, fix))
                for fix in fixes_for(finding, tree, others, torch)
                if fix.kind in WITHOUT_LOSS
            )
            best = min((each for each in candidates if each.is_proven), key=lambda each: each.rank, default=None)
            if best is not None:
                yield best

    def _fixable(self, snapshot: Snapshot) -> list[Finding]:
        found = self._server.results.findings(file_key(snapshot.path or ""), with_beside=False)
        return [finding for finding in found if finding.kind in FIXABLE]

    def _by_region(self, snapshot: Snapshot, found: list[Finding]) -> dict[str, set[Finding]]:
        frames: dict[str, set[str]] = {}
        for known in self._server.results.regions(file_key(snapshot.path or "")):
            frames.setdefault(known.summary.name, set()).update(known.summary.frames)
        return {
            region.name: {finding for finding in found if is_of_region(finding, region, frames.get(region.name, ()))}
            for region in self._runs.regions(snapshot)
        }

    # -- what is done

    async def fix(self, uri: str | None, region: str | None) -> dict[str, Any] | None:
        """Try fixes until nothing improves, show the change, and make it if the user says so. None if nothing was tried."""
        path = path_argument(FIX_ALL, uri)
        name, uri = Path(path).name, str(uri)
        if self._server.documents.get(uri) is None:
            raise JsonRpcInvalidParams(f"{FIX_ALL} needs the URI of an open file.")
        if not self._server.may_run():
            return None
        if uri in self._running:
            self._server.warn(f"Compile Lens: fixes of {name} are already being tried.")
            return None
        self._running.add(uri)
        try:
            found = await self._progress.run(f"{name}: starting", partial(self._try, uri, path, region), uri)
        finally:
            self._running.discard(uri)
        if found is None:
            return None
        snapshot, repaired = found
        if not repaired.steps:
            self._server.say(f"Compile Lens: {_nothing(name, repaired)}")
            return _answer(repaired, applied=False)
        applied = await self._show_and_apply(snapshot, path, repaired)
        if applied:
            for step in repaired.steps:
                await self._habits.taken(uri, f"{step.finding.code}#{step.fix.rule}")
            await self._runs.analyze(uri)
        return _answer(repaired, applied)

    async def _try(
        self, uri: str, path: str, region: str | None, progress: RunProgress
    ) -> tuple[Snapshot, Repaired] | None:
        try:
            with self._checks.held_off():
                return await self._repair(uri, path, region, progress)
        except _TextChanged:
            self._say_changed(path)
            return None

    async def _repair(
        self, uri: str, path: str, region: str | None, progress: RunProgress
    ) -> tuple[Snapshot, Repaired] | None:
        server, name = self._server, Path(path).name
        await server.scheduler.settled(uri)
        snapshot, outcome = self._newest(uri), server.results.outcome(uri)
        if outcome is None or not outcome.final or self._runs.last.text(uri) != snapshot.text:
            outcome = await self._runs.analyze(uri)
            snapshot = self._newest(uri)
            if outcome is None:
                return None  # canceled, or the user was told why it cannot run
            if self._runs.last.text(uri) != snapshot.text:
                raise _TextChanged
        why = outcome.failure.rstrip(".") or why_not_verified(outcome, LONGEST_REQUESTED_S)
        if why:
            server.warn(f"Compile Lens: no fix of {name} can be verified: {why}.")
            return None
        steps: list[CandidateFix] = []

        def trying(finding: Finding, fix: Fix) -> None:
            if self._newest(uri).text != snapshot.text:
                raise _TextChanged
            progress.report(f"{name}: step {len(steps) + 1}: trying {fix.rule} at line {finding.place.line}")

        verifier = self._checks.verifier(snapshot, path, outcome)
        wanted = of_region(region) if region is not None else every_finding
        turns = Turns(self._runs.interpreter(path), Reason.REQUESTED)
        repaired = await Repair(verifier, wanted, on_step=steps.append, on_try=trying).run(turns)
        if self._newest(uri).text != snapshot.text:
            raise _TextChanged
        if region is None:
            self._repaired[uri] = repaired
        return snapshot, repaired

    def _newest(self, uri: str) -> Snapshot:
        snapshot = self._server.documents.get(uri)
        if snapshot is None:
            raise _TextChanged
        return snapshot

    async def _show_and_apply(self, snapshot: Snapshot, path: str, repaired: Repaired) -> bool:
        """Whether the user saw the change and let the editor make it."""
        server, editor = self._server, self._server.editor
        if not await self._is_wanted(snapshot, path, repaired):
            return False
        now = server.documents.get(snapshot.uri)
        if now is None or now.text != snapshot.text:
            self._say_changed(path)
            return False
        edits = text_edits(snapshot, repaired.edits, editor.encoding)
        edit = workspace_edit(snapshot, edits, editor.versioned_edits)
        try:
            answer = await server.workspace_apply_edit_async(
                types.ApplyWorkspaceEditParams(server.notebooks.edit(edit), label="Fix all findings")
            )
        except JsonRpcException as refused:
            log.info("The editor did not apply fixes: %s", refused)
            return False
        return answer is not None and answer.applied

    async def _is_wanted(self, snapshot: Snapshot, path: str, repaired: Repaired) -> bool:
        """Shows the change, and asks. A notebook has no text of its own that could be compared."""
        server, name = self._server, Path(path).name
        label = f"{_fixes(repaired)}: {repaired.words}"
        title, question = f"Fixes of {name}", f"Compile Lens: {label}. Apply to {name}?"
        if server.editor.confirms_changes and not server.notebooks.is_notebook(snapshot.uri):
            change = {"uri": snapshot.uri, "text": repaired.text, "title": title, "message": visible(question)}
            try:
                return await server.protocol.send_request_async(CONFIRM_CHANGE, change) is True
            except JsonRpcException as failed:
                log.warning("The editor did not show the fixes of %s: %s", name, failed)
                return False
        page = f"{markdown_text(label)}\n\n{code_block(repaired.diff(name).rstrip(), 'diff')}\n"
        await self._pages.show(title, page, history_file(Path(path)).with_suffix(".fixes.md"))
        return await server.ask(question, (APPLY, DISCARD)) == APPLY

    def _say_changed(self, path: str) -> None:
        self._server.warn(f"Compile Lens: {Path(path).name} changed while fixes were tried. Fix all findings again.")


def _fixes(repaired: Repaired) -> str:
    number = len(repaired.steps)
    return f"{number} verified {'fix' if number == 1 else 'fixes'}"


def _nothing(name: str, repaired: Repaired) -> str:
    if not repaired.remaining:
        return f"{name} has nothing to fix."
    reasons = "; ".join(f"line {left.finding.place.line}: {left.why}" for left in repaired.remaining[:MOST_REASONS])
    return f"no verified fix for {name}. {reasons[0].upper()}{reasons[1:]}."


def _answer(repaired: Repaired, applied: bool) -> dict[str, Any]:
    return {"applied": applied, "fixes": len(repaired.steps), "remaining": len(repaired.remaining)}
