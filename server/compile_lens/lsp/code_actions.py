"""Code actions: collects what the features offer for a range, since a server has one handler per message."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from lsprotocol import types

from compile_lens.documents.documents import Documents, Snapshot
from compile_lens.documents.line_index import Encoding
from compile_lens.fixes.fix import Edit
from compile_lens.lsp.convert import protocol_range
from compile_lens.shown_text import visible_name

Provider = Callable[[Snapshot, types.CodeActionParams], Iterable[types.CodeAction]]


class CodeActions:
    """Answers with the actions of all providers, synchronously, so that they fit the version that the editor means."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._providers: list[Provider] = []

    def add(self, provider: Provider) -> None:
        """Include the actions of ``provider``."""
        self._providers.append(provider)

    def answer(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """The actions for a range."""
        snapshot = self._documents.get(params.text_document.uri)
        if snapshot is None:
            return []
        wanted = [str(getattr(kind, "value", kind)) for kind in params.context.only or ()]
        offered = (action for provider in self._providers for action in provider(snapshot, params))
        return [action for action in offered if not wanted or _is_of(action, wanted)]


def command_action(
    title: str,
    command: str,
    arguments: Sequence[str],
    kind: str | None = None,
    diagnostics: list[types.Diagnostic] | None = None,
) -> types.CodeAction:
    """An action that runs a command of the server. Without a kind it is not offered where an editor asks for fixes only."""
    title = visible_name(title)
    run = types.Command(title=title, command=command, arguments=list(arguments))
    return types.CodeAction(title=title, kind=kind, diagnostics=diagnostics, command=run)


def workspace_edit(snapshot: Snapshot, edits: Sequence[types.TextEdit], versioned: bool) -> types.WorkspaceEdit:
    """Edits of one document; ``versioned`` if the editor can restrict them to this version."""
    if not versioned:
        return types.WorkspaceEdit(changes={snapshot.uri: list(edits)})
    document = types.OptionalVersionedTextDocumentIdentifier(uri=snapshot.uri, version=snapshot.version)
    return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(document, list(edits))])


def text_edits(snapshot: Snapshot, edits: Iterable[Edit], encoding: Encoding) -> list[types.TextEdit]:
    """Edits of a fix as the protocol has them."""
    made = []
    for edit in edits:
        start = snapshot.index.position_of(edit.place.line, edit.place.column, encoding)
        end = snapshot.index.position_of(edit.place.end_line, edit.place.end_column, encoding)
        made.append(types.TextEdit(protocol_range(start, end), edit.text))
    return made


def touches(one: types.Range, other: types.Range) -> bool:
    """Whether two ranges overlap, or meet at a point."""
    return _point(one.start) <= _point(other.end) and _point(other.start) <= _point(one.end)


def _point(position: types.Position) -> tuple[int, int]:
    return position.line, position.character


def _is_of(action: types.CodeAction, wanted: Iterable[str]) -> bool:
    """Whether an action is of one of the kinds ``wanted`` or of a sub-kind. One without a kind never is."""
    kind = str(getattr(action.kind, "value", action.kind or ""))
    return any(not one or kind == one or kind.startswith(f"{one}.") for one in wanted)
