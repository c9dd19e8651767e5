"""Quick fixes for findings, as code actions."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from urllib.parse import quote

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from compile_lens.analysis.finding import Finding
from compile_lens.documents.documents import Snapshot, file_key
from compile_lens.fixes.fix import Fix, FixKind, tokens_changed
from compile_lens.fixes.offer import fixes_for
from compile_lens.fixes.verify import CandidateFix
from compile_lens.lsp.code_actions import text_edits, touches, workspace_edit
from compile_lens.lsp.convert import path_argument, to_diagnostic
from compile_lens.lsp.document_facts import DocumentFactsOf
from compile_lens.lsp.fix_checks import FixChecks
from compile_lens.lsp.fix_habits import FixHabits
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.shown_text import link, markdown_text, visible

log = logging.getLogger(__name__)

APPLY = "compileLens.applyFix"
MOST_IN_HOVER = 3


class Fixes:
    """Offers the fixes for the findings at a range."""

    def __init__(self, server: CompileLensServer, checks: FixChecks, facts: DocumentFactsOf, habits: FixHabits) -> None:
        self._server = server
        self._habits = habits
        self._checks = checks
        self._facts = facts

    def actions(self, snapshot: Snapshot, params: types.CodeActionParams) -> Iterator[types.CodeAction]:
        """The fixes for the findings at a range."""
        if snapshot.path is None:
            return
        server = self._server
        for finding in server.results.findings(file_key(snapshot.path)):
            diagnostic = to_diagnostic(finding, server.sources, server.editor)
            if touches(diagnostic.range, params.range):
                yield from self._for_finding(snapshot, finding, diagnostic)

    def _for_finding(
        self, snapshot: Snapshot, finding: Finding, diagnostic: types.Diagnostic
    ) -> Iterator[types.CodeAction]:
        for number, candidate in enumerate(self._offered(snapshot, finding)):
            # an editor may apply the preferred fix without asking, so there is at most one
            preferred = number == 0 and _is_preferred(candidate)
            yield types.CodeAction(
                title=visible(self._title(snapshot, candidate)),
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[diagnostic],
                is_preferred=preferred or None,
                edit=self._workspace_edit(snapshot, candidate.fix),
                command=self._habits.taking(snapshot.uri, candidate),
            )

    def in_hover(self, snapshot: Snapshot, finding: Finding) -> list[str]:
        """Markdown for each fix: a link where the editor follows it, else the name of the quick fix."""
        offered = [
            candidate for candidate in self._offered(snapshot, finding) if candidate.fix.kind is not FixKind.IGNORE
        ]
        titles = [self._title(snapshot, candidate) for candidate in offered[:MOST_IN_HOVER]]
        if not self._server.editor.follows_command_links:
            return [f"Quick fix: {markdown_text(title)}" for title in titles]
        return [
            link(title, _command(snapshot.uri, _named(finding, candidate.fix, snapshot)))
            for title, candidate in zip(titles, offered, strict=False)
        ]

    def to_ignore(self, snapshot: Snapshot, finding: Finding) -> types.Command:
        """The command that ignores a finding from now on, by a comment at its line."""
        title = f"Ignore this {finding.kind.row.title.lower()}"
        return types.Command(title, APPLY, arguments=[snapshot.uri, _named(finding, None, snapshot)])

    def commands(self, snapshot: Snapshot, finding: Finding) -> list[types.Command]:
        """The commands that apply the fixes of a finding, the best one first; without the one that ignores it."""
        return [
            types.Command(
                visible(self._title(snapshot, candidate)),
                APPLY,
                arguments=[snapshot.uri, _named(finding, candidate.fix, snapshot)],
            )
            for candidate in self._offered(snapshot, finding)
            if candidate.fix.kind is not FixKind.IGNORE
        ]

    async def apply(self, uri: str | None, which: str | None) -> bool:
        """Apply the fix that a link in a hover names. Returns whether the editor did."""
        path_argument(APPLY, uri)
        snapshot = self._server.documents.get(str(uri))
        candidate = self._candidate(snapshot, which or "") if snapshot is not None else None
        if snapshot is None or candidate is None:
            self._server.warn("Compile Lens: the file has changed. Hover again for current fixes.")
            return False
        edit = self._workspace_edit(snapshot, candidate.fix)
        try:
            answer = await self._server.workspace_apply_edit_async(
                types.ApplyWorkspaceEditParams(self._server.notebooks.edit(edit))
            )
        except JsonRpcException as refused:
            log.info("The editor did not apply a fix: %s", refused)
            return False
        applied = answer is not None and answer.applied
        if applied:
            await self._habits.taken(*self._habits.taking(snapshot.uri, candidate).arguments or ())
        return applied

    def _candidate(self, snapshot: Snapshot, which: str) -> CandidateFix | None:
        for finding in self._server.results.findings(file_key(snapshot.path or "")):
            for candidate in self._offered(snapshot, finding):
                if which == _named(finding, candidate.fix, snapshot):
                    return candidate
        return None

    def _offered(self, snapshot: Snapshot, finding: Finding) -> list[CandidateFix]:
        """Fixes that help come first; those that harm or do nothing are not offered."""
        tree = self._facts.tree(snapshot)
        others = self._server.results.findings(file_key(snapshot.path or ""))
        torch = self._server.results.torch(snapshot.uri)
        known = [
            CandidateFix(finding, fix, self._checks.effect(snapshot, fix), tokens_changed(snapshot.text, fix))
            for fix in (fixes_for(finding, tree, others, torch) if tree is not None else ())
        ]
        return self._habits.in_order(snapshot.path or "", [candidate for candidate in known if candidate.is_offered])

    def _title(self, snapshot: Snapshot, candidate: CandidateFix) -> str:
        fix = candidate.fix
        if fix.kind is FixKind.IGNORE:
            return fix.title
        if candidate.effect is None:
            return f"{fix.title} (not verified: {self._checks.why_not(snapshot)})"
        return f"{fix.title}: {candidate.words}"

    def _workspace_edit(self, snapshot: Snapshot, fix: Fix) -> types.WorkspaceEdit:
        editor = self._server.editor
        return workspace_edit(snapshot, text_edits(snapshot, fix.edits, editor.encoding), editor.versioned_edits)


def _named(finding: Finding, fix: Fix | None, snapshot: Snapshot) -> str:
    """What tells a fix from the others of this version of the document: a rule may offer several. None is the one that ignores it."""
    place = finding.place
    name = "" if fix is None or fix.kind is FixKind.IGNORE else f"{fix.rule}: {fix.title}"
    return f"{finding.code}@{place.line}:{place.column}#{name}#{snapshot.version}"


def _command(uri: str, name: str) -> str:
    return f"command:{APPLY}?{quote(json.dumps([uri, name]), safe='')}"


def _is_preferred(candidate: CandidateFix) -> bool:
    return candidate.fix.kind is FixKind.CHANGE and candidate.helps
