"""Quick fixes for findings, as code actions."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from compile_lens.analysis.finding import Finding
from compile_lens.analysis.finding_counts import FixEffect
from compile_lens.analysis.fixes.fix import Fix, FixKind
from compile_lens.analysis.fixes.offer import fixes_for
from compile_lens.documents.documents import Snapshot, file_key
from compile_lens.lsp.convert import to_diagnostic
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.pipeline.fix_check import FixEffects
from compile_lens.syntax.tree import SourceTree, parse


class Fixes:
    """Offers, for the findings that a range touches, what may help."""

    def __init__(self, server: CompileLensServer, effects: FixEffects) -> None:
        self._server = server
        self._effects = effects
        self._trees: dict[str, tuple[int, SourceTree]] = {}

    def actions(self, snapshot: Snapshot, params: types.CodeActionParams) -> Iterator[types.CodeAction]:
        """The fixes for the findings at a range."""
        if snapshot.path is None:
            return
        server = self._server
        for finding in server.results.findings(file_key(snapshot.path)):
            diagnostic = to_diagnostic(finding, server.sources, server.client)
            if _touch(diagnostic.range, params.range):
                yield from self._for_finding(snapshot, finding, diagnostic)

    def _for_finding(
        self, snapshot: Snapshot, finding: Finding, diagnostic: types.Diagnostic
    ) -> Iterator[types.CodeAction]:
        """What helps first; what does harm not at all."""
        known = [
            (fix, self._effects.get(snapshot.uri, snapshot.text, fix))
            for fix in fixes_for(finding, self._tree(snapshot))
        ]
        offered = [(fix, effect) for fix, effect in known if effect is None or not effect.harms]
        for number, (fix, effect) in enumerate(sorted(offered, key=lambda entry: _rank(*entry))):
            # an editor may apply what is preferred without asking which: one at most
            preferred = number == 0 and _is_preferred(fix, effect)
            yield types.CodeAction(
                title=_title(finding, fix, effect),
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[diagnostic],
                is_preferred=preferred or None,
                edit=self._workspace_edit(snapshot, fix),
            )

    def _workspace_edit(self, snapshot: Snapshot, fix: Fix) -> types.WorkspaceEdit:
        """The edits, for this version alone where the editor can be told so."""
        encoding = self._server.client.encoding
        edits = []
        for edit in fix.edits:
            start = snapshot.index.position_of(edit.place.line, edit.place.column, encoding)
            end = snapshot.index.position_of(edit.place.end_line, edit.place.end_column, encoding)
            place = types.Range(types.Position(start.line, start.character), types.Position(end.line, end.character))
            edits.append(types.TextEdit(place, edit.text))
        if not self._server.client.versioned_edits:
            return types.WorkspaceEdit(changes={snapshot.uri: edits})
        document = types.OptionalVersionedTextDocumentIdentifier(uri=snapshot.uri, version=snapshot.version)
        return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(document, list(edits))])

    def _tree(self, snapshot: Snapshot) -> SourceTree:
        known = self._trees.get(snapshot.uri)
        if known is None or known[0] != snapshot.version:
            known = self._trees[snapshot.uri] = (snapshot.version, parse(snapshot.text))
        return known[1]


def _title(finding: Finding, fix: Fix, effect: FixEffect | None) -> str:
    if fix.kind is FixKind.IGNORE:
        return fix.title
    return f"{fix.title} (not verified)" if effect is None else f"{fix.title}: {effect.words(finding.kind)}"


def _is_preferred(fix: Fix, effect: FixEffect | None) -> bool:
    return fix.kind is FixKind.CHANGE and effect is not None and effect.helps


def _rank(fix: Fix, effect: FixEffect | None) -> int:
    """What helps, what may help, what does not, and at last not to be told."""
    if fix.kind is FixKind.IGNORE:
        return 4
    if effect is None:
        return 1
    if not effect.helps:
        return 3
    return 0 if fix.kind is FixKind.CHANGE else 2


def _touch(one: types.Range, other: types.Range) -> bool:
    return _point(one.start) <= _point(other.end) and _point(other.start) <= _point(one.end)


def _point(position: types.Position) -> tuple[int, int]:
    return position.line, position.character
