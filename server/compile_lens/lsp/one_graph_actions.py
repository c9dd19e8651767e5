"""A code action at a region without a break: ``fullgraph=True``, applied once a run has shown that it holds."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from compile_lens.analysis.outcome import Outcome
from compile_lens.documents.documents import Snapshot
from compile_lens.fixes.one_graph import Kept, WholeRegion, try_whole, whole_regions
from compile_lens.fixes.verify import LONGEST_REQUESTED_S, why_not_verified
from compile_lens.lsp.code_actions import command_action, text_edits, workspace_edit
from compile_lens.lsp.convert import path_argument
from compile_lens.lsp.document_facts import DocumentFactsOf
from compile_lens.lsp.fix_checks import FixChecks, Turns
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.lsp.progress import ProgressFeature, RunProgress
from compile_lens.lsp.runs import Runs
from compile_lens.pipeline.scheduler import Reason

log = logging.getLogger(__name__)

KEEP_ONE_GRAPH = "compileLens.keepOneGraph"


class OneGraphActions:
    """Offers the option in a region and in what it compiles, and tries it when the user asks for it."""

    def __init__(
        self,
        server: CompileLensServer,
        runs: Runs,
        checks: FixChecks,
        facts: DocumentFactsOf,
        progress: ProgressFeature,
    ) -> None:
        self._server, self._runs, self._checks = server, runs, checks
        self._facts, self._progress = facts, progress

    def actions(self, snapshot: Snapshot, params: types.CodeActionParams) -> Iterator[types.CodeAction]:
        """The action for the innermost region at a range."""
        name = self._runs.region_at(snapshot, params.range.start.line + 1)
        if name is None or snapshot.path is None or not self._server.trusted:
            return
        for whole in self._whole(snapshot, snapshot.path):
            if whole.region.name == name:
                yield command_action(f"{whole.fix.title}…", KEEP_ONE_GRAPH, [snapshot.uri, _place(whole)])
                return

    def _whole(self, snapshot: Snapshot, path: str) -> tuple[WholeRegion, ...]:
        outcome, tree = self._outcome(snapshot), self._facts.tree(snapshot)
        return whole_regions(tree, outcome, path) if outcome is not None and tree is not None else ()

    def _outcome(self, snapshot: Snapshot) -> Outcome | None:
        """What came of the run of exactly this text, once it has ended."""
        outcome = self._server.results.outcome(snapshot.uri)
        is_of_text = self._runs.last.text(snapshot.uri) == snapshot.text
        return outcome if outcome is not None and outcome.final and is_of_text else None

    async def keep(self, uri: str | None, region: str | None) -> dict[str, Any] | None:
        """Try the option for the region that begins at ``LINE:COLUMN``, and set it if it holds. None if nothing was tried."""
        path, server = path_argument(KEEP_ONE_GRAPH, uri), self._server
        name, uri = Path(path).name, str(uri)
        if server.documents.get(uri) is None:
            raise JsonRpcInvalidParams(f"{KEEP_ONE_GRAPH} needs the URI of an open file.")
        if not server.may_run():
            return None
        trying = partial(self._try, uri, path, region or "")
        tried = await self._progress.run(f"{name}: trying `fullgraph=True`", trying, uri)
        if tried is None:
            return None
        snapshot, kept = tried
        title = kept.whole.fix.title
        if not kept.holds:
            server.warn(f"Compile Lens: `fullgraph=True` is not set for `{kept.whole.region.name}`: {kept.words}.")
            return {"applied": False, "effect": kept.words}
        applied = await self._apply(snapshot, kept)
        if applied:
            server.say(f"Compile Lens: {title}: {kept.words}.")
            await self._runs.analyze(uri)
        return {"applied": applied, "effect": kept.words}

    async def _try(self, uri: str, path: str, region: str, progress: RunProgress) -> tuple[Snapshot, Kept] | None:
        server = self._server
        with self._checks.held_off():
            await server.scheduler.settled(uri)
            snapshot = server.documents.get(uri)
            outcome = self._outcome(snapshot) if snapshot is not None else None
            whole = next((w for w in self._whole(snapshot, path) if _place(w) == region), None) if snapshot else None
            if snapshot is None or outcome is None or whole is None:
                server.warn(f"Compile Lens: {Path(path).name} has changed since its run. Run it again.")
                return None
            why = why_not_verified(outcome, LONGEST_REQUESTED_S)
            if why:
                server.warn(f"Compile Lens: `fullgraph=True` cannot be tried: {why}.")
                return None
            progress.report(f"{Path(path).name}: running with `fullgraph=True`")
            turns = Turns(self._runs.interpreter(path), Reason.REQUESTED)
            return snapshot, await try_whole(turns, self._checks.verifier(snapshot, path, outcome), whole)

    async def _apply(self, snapshot: Snapshot, kept: Kept) -> bool:
        """Whether the editor set the option, in the text that was tried."""
        server, editor = self._server, self._server.editor
        now = server.documents.get(snapshot.uri)
        if now is None or now.text != snapshot.text:
            server.warn(f"Compile Lens: {Path(snapshot.path or '').name} changed while `fullgraph=True` was tried.")
            return False
        edits = text_edits(now, kept.whole.fix.edits, editor.encoding)
        edit = workspace_edit(now, edits, editor.versioned_edits)
        try:
            answer = await server.workspace_apply_edit_async(
                types.ApplyWorkspaceEditParams(server.notebooks.edit(edit), label=kept.whole.fix.title)
            )
        except JsonRpcException as refused:
            log.info("The editor did not set fullgraph=True: %s", refused)
            return False
        return answer is not None and answer.applied


def _place(whole: WholeRegion) -> str:
    return f"{whole.region.line}:{whole.region.column}"
