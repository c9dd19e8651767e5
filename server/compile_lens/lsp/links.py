"""Links in a document: a graph break code leads to its page."""

from __future__ import annotations

import re

from lsprotocol import types

from compile_lens.knowledge.entry import KnowledgeKind
from compile_lens.lsp.knowledge_store import KnowledgeStore
from compile_lens.lsp.language_server import CompileLensServer

_CODE = re.compile(r"\bGB\d{4}\b")


def register(server: CompileLensServer, store: KnowledgeStore) -> None:
    """Offer links."""

    def links(params: types.DocumentLinkParams) -> list[types.DocumentLink]:
        snapshot = server.documents.get(params.text_document.uri)
        if snapshot is None or "GB" not in snapshot.text:
            return []
        knowledge = store.of(snapshot.path)
        found = []
        for match in _CODE.finditer(snapshot.text):
            entry = knowledge.get(KnowledgeKind.CODE, match.group())
            if entry is not None:
                start = snapshot.index.position(match.start(), server.client.encoding)
                end = snapshot.index.position(match.end(), server.client.encoding)
                place = types.Range(
                    types.Position(start.line, start.character), types.Position(end.line, end.character)
                )
                found.append(types.DocumentLink(place, target=entry.url, tooltip=entry.summary.strip("*")))
        return found

    server.on(types.TEXT_DOCUMENT_DOCUMENT_LINK, links, types.DocumentLinkOptions(resolve_provider=False))
