"""Quick fixes for findings, as code actions."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from compile_lens.analysis.finding import Finding
from compile_lens.analysis.fixes.fix import Fix
from compile_lens.analysis.fixes.offer import fixes_for
from compile_lens.lsp.convert import to_diagnostic
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.session.documents import Snapshot, file_key
from compile_lens.syntax.tree import SourceTree, parse


class Fixes:
    """Offers, for the findings that a range touches, what may help."""

    def __init__(self, server: CompileLensServer) -> None:
        self._server = server
        self._trees: dict[str, tuple[int, SourceTree]] = {}

    def actions(self, snapshot: Snapshot, params: types.CodeActionParams) -> Iterator[types.CodeAction]:
        """The fixes for the findings at a range."""
        if snapshot.path is None:
            return
        server = self._server
        for finding in server.results.findings(file_key(snapshot.path)):
            diagnostic = to_diagnostic(finding, server.sources, server.client)
            if _touch(diagnostic.range, params.range):
                for fix in fixes_for(finding, self._tree(snapshot)):
                    yield self._action(snapshot, finding, diagnostic, fix)

    def _action(self, snapshot: Snapshot, finding: Finding, diagnostic: types.Diagnostic, fix: Fix) -> types.CodeAction:
        return types.CodeAction(
            title=fix.title,
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[diagnostic],
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


def _touch(one: types.Range, other: types.Range) -> bool:
    return _point(one.start) <= _point(other.end) and _point(other.start) <= _point(one.end)


def _point(position: types.Position) -> tuple[int, int]:
    return position.line, position.character
