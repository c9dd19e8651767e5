"""Quick fixes: write the name that was probably meant."""

from __future__ import annotations

from lsprotocol import types

from compile_lens.documents.documents import Snapshot
from compile_lens.lsp.knowledge_diagnostics import KnowledgeDiagnostics
from compile_lens.lsp.language_server import CompileLensServer


def register(server: CompileLensServer, diagnostics: KnowledgeDiagnostics) -> None:
    """Offer fixes."""

    def actions(snapshot: Snapshot, params: types.CodeActionParams) -> list[types.CodeAction]:
        made = []
        for entry, diagnostic in zip(diagnostics.found(snapshot), diagnostics.of(snapshot), strict=True):
            if not _touch(diagnostic.range, params.range):
                continue
            for number, name in enumerate(entry.problem.instead):
                edit = types.TextEdit(diagnostic.range, name)
                made.append(
                    types.CodeAction(
                        title=f"Change to '{name}'",
                        kind=types.CodeActionKind.QuickFix,
                        diagnostics=[diagnostic],
                        is_preferred=number == 0,
                        edit=types.WorkspaceEdit(changes={snapshot.uri: [edit]}),
                    )
                )
        return made

    server.code_actions.add(actions)


def _touch(one: types.Range, other: types.Range) -> bool:
    return _key(one.start) <= _key(other.end) and _key(other.start) <= _key(one.end)


def _key(position: types.Position) -> tuple[int, int]:
    return position.line, position.character
