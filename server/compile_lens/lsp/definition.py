"""Go to definition: from a flag, an option, an operator or a class into the installed torch."""

from __future__ import annotations

from pathlib import Path

from lsprotocol import types

from compile_lens.knowledge.entry import KnowledgeEntry, KnowledgeKind
from compile_lens.knowledge.tables import Tables
from compile_lens.lsp.convert import from_position
from compile_lens.lsp.knowledge_at import named_at
from compile_lens.lsp.knowledge_store import KnowledgeStore
from compile_lens.lsp.language_server import CompileLensServer

# an editor's Python knows where these are; for a builtin nobody does, and there is nothing to go to
_LEFT_TO_PYTHON = frozenset({KnowledgeKind.FUNCTION})
# of the places of an operator, those that Inductor goes to; the hover has them all
_OF_INDUCTOR = ("lowering, registered", "decomposition of Inductor")


def register(server: CompileLensServer, store: KnowledgeStore) -> None:
    """Offer definitions."""

    def definition(params: types.DefinitionParams) -> list[types.Location] | None:
        snapshot = server.documents.get(params.text_document.uri)
        if snapshot is None:
            return None
        knowledge = store.of(snapshot.path)
        point = snapshot.index.point(from_position(params.position), server.client.encoding)
        named = named_at(snapshot, knowledge, *point)
        if named is None:
            return None
        entries = [entry for entry in named.entries if entry.kind not in _LEFT_TO_PYTHON]
        return [location for entry in entries for location in _locations(entry, knowledge.tables)] or None

    server.on(types.TEXT_DOCUMENT_DEFINITION, definition)


def _locations(entry: KnowledgeEntry, tables: Tables) -> list[types.Location]:
    """What Inductor does with an operator; of other things the first place, which is the definition."""
    if tables.root is None:
        return []
    places = [place for place in entry.places if place.label in _OF_INDUCTOR] or entry.places[:1]
    found = []
    for place in places:
        position = types.Position(place.line - 1, 0)
        found.append(types.Location((Path(tables.root) / place.path).as_uri(), types.Range(position, position)))
    return found
