"""Quick fixes for findings, as code actions."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from compile_lens.analysis.finding import Finding
from compile_lens.analysis.finding_counts import FixEffect
from compile_lens.analysis.fixes.fix import Fix, FixKind
from compile_lens.analysis.fixes.offer import fixes_for
from compile_lens.documents.documents import Snapshot, file_key
from compile_lens.lsp.code_actions import touches, workspace_edit
from compile_lens.lsp.convert import protocol_range, to_diagnostic
from compile_lens.lsp.document_facts import DocumentFactsOf
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.pipeline.fix_check import FixEffects
from compile_lens.shown_text import visible


class Fixes:
    """Offers the fixes for the findings at a range."""

    def __init__(self, server: CompileLensServer, effects: FixEffects, facts: DocumentFactsOf) -> None:
        self._server = server
        self._effects = effects
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
        """Fixes that help come first; harmful ones are not offered."""
        tree = self._facts.tree(snapshot)
        fixes = fixes_for(finding, tree) if tree is not None else ()
        known = [(fix, self._effects.get(snapshot.uri, snapshot.text, fix)) for fix in fixes]
        offered = [(fix, effect) for fix, effect in known if effect is None or not effect.harms]
        for number, (fix, effect) in enumerate(sorted(offered, key=lambda entry: _rank(*entry))):
            # an editor may apply the preferred fix without asking, so there is at most one
            preferred = number == 0 and _is_preferred(fix, effect)
            yield types.CodeAction(
                title=visible(_title(finding, fix, effect)),
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[diagnostic],
                is_preferred=preferred or None,
                edit=self._workspace_edit(snapshot, fix),
            )

    def _workspace_edit(self, snapshot: Snapshot, fix: Fix) -> types.WorkspaceEdit:
        editor = self._server.editor
        edits = []
        for edit in fix.edits:
            start = snapshot.index.position_of(edit.place.line, edit.place.column, editor.encoding)
            end = snapshot.index.position_of(edit.place.end_line, edit.place.end_column, editor.encoding)
            edits.append(types.TextEdit(protocol_range(start, end), edit.text))
        return workspace_edit(snapshot, edits, editor.versioned_edits)


def _title(finding: Finding, fix: Fix, effect: FixEffect | None) -> str:
    if fix.kind is FixKind.IGNORE:
        return fix.title
    return f"{fix.title} (not verified)" if effect is None else f"{fix.title}: {effect.words(finding.kind)}"


def _is_preferred(fix: Fix, effect: FixEffect | None) -> bool:
    return fix.kind is FixKind.CHANGE and effect is not None and effect.helps


def _rank(fix: Fix, effect: FixEffect | None) -> int:
    """Fixes that help, then unverified ones, ways to avoid the code, fixes without effect, and ignoring the finding last."""
    if fix.kind is FixKind.IGNORE:
        return 4
    if effect is None:
        return 1
    if not effect.helps:
        return 3
    return 0 if fix.kind is FixKind.CHANGE else 2
