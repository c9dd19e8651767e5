"""Go to definition, from a name of torch into the installed torch; and links from graph break codes to their pages."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from lsprotocol import types

from compile_lens.documents.line_index import Encoding, LineIndex
from compile_lens.knowledge.entry import KnowledgeEntry, KnowledgeKind
from compile_lens.knowledge.lookup import Knowledge
from compile_lens.knowledge.tables import Tables
from compile_lens.late_pattern import pattern
from compile_lens.lsp.convert import from_position, protocol_range
from compile_lens.lsp.document_facts import DocumentFactsOf
from compile_lens.lsp.knowledge_at import named_at
from compile_lens.lsp.knowledge_store import KnowledgeStore
from compile_lens.lsp.language_server import CompileLensServer

# the editor's Python support finds these; builtins have no source to go to
_LEFT_TO_PYTHON = frozenset({KnowledgeKind.FUNCTION})
# of an operator's places, those that Inductor uses; the hover lists all
_OF_INDUCTOR = ("lowering, registered", "decomposition of Inductor")
_CODE = pattern(r"\bGB\d{4}\b")
# of one document
MOST_LINKS = 2_000


class Navigation:
    """Answers from the tables."""

    def __init__(self, server: CompileLensServer, store: KnowledgeStore, facts: DocumentFactsOf) -> None:
        self._server = server
        self._store = store
        self._facts = facts
        server.on(types.TEXT_DOCUMENT_DEFINITION, self._definition)
        server.on(types.TEXT_DOCUMENT_DOCUMENT_LINK, self._links)

    def _definition(self, params: types.DefinitionParams) -> list[types.Location] | None:
        snapshot = self._server.documents.get(params.text_document.uri)
        if snapshot is None:
            return None
        knowledge = self._store.of(snapshot.path)
        point = snapshot.index.point(from_position(params.position), self._server.editor.encoding)
        named = named_at(snapshot, knowledge, self._facts.of(snapshot).imports, *point)
        if named is None:
            return None
        entries = [entry for entry in named.entries if entry.kind not in _LEFT_TO_PYTHON]
        return [location for entry in entries for location in _locations(entry, knowledge.tables)] or None

    def _links(self, params: types.DocumentLinkParams) -> list[types.DocumentLink]:
        snapshot = self._server.documents.get(params.text_document.uri)
        if snapshot is None:
            return []
        knowledge, encoding = self._store.of(snapshot.path), self._server.editor.encoding
        return list(islice(_links_in(snapshot.index, knowledge, encoding), MOST_LINKS))


def _links_in(index: LineIndex, knowledge: Knowledge, encoding: Encoding) -> Iterator[types.DocumentLink]:
    for offset, codes in index.read_by_pieces(_codes_in):
        for start, code in codes:
            entry = knowledge.get(KnowledgeKind.CODE, code)
            if entry is not None:
                place = (index.position(offset + at, encoding) for at in (start, start + len(code)))
                yield types.DocumentLink(protocol_range(*place), target=entry.url, tooltip=entry.summary.strip("*"))


def _codes_in(text: str) -> tuple[tuple[int, str], ...]:
    return tuple((match.start(), match.group()) for match in _CODE.finditer(text)) if "GB" in text else ()


def _locations(entry: KnowledgeEntry, tables: Tables) -> list[types.Location]:
    """What Inductor does with an operator; for anything else the first place, which is the definition."""
    if tables.root is None:
        return []
    places = [place for place in entry.places if place.label in _OF_INDUCTOR] or entry.places[:1]
    found = []
    for place in places:
        position = types.Position(place.line - 1, 0)
        found.append(types.Location((Path(tables.root) / place.path).as_uri(), types.Range(position, position)))
    return found
