"""Stages as documents: their text, their links to the source, their outline, and what can be folded.

docs/editors/protocol.md describes ``compileLens/stageLinks``.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from compile_lens.lsp.compiler_stages.store import SCHEME, StageDocument, StageStore
from compile_lens.lsp.convert import uri_from_path
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.lsp.offered import STAGE_LINKS
from compile_lens.pipeline.stage_set import Link, bands
from compile_lens.shown_text import visible
from compile_lens.syntax.generated_outline import OutlinePart, PartKind, folds_of, parts_of

CHANGED = "compileLens/stagesChanged"
GONE = "# This compiler stage is no longer kept. Open the compiler stages of its file again.\n"
KINDS = {
    PartKind.CLASS: types.SymbolKind.Class,
    PartKind.FUNCTION: types.SymbolKind.Function,
    PartKind.KERNEL: types.SymbolKind.Event,
    PartKind.NODE: types.SymbolKind.Struct,
}


class StageDocuments:
    """Answers about documents that are stages, and says nothing of others: the editor's Python support outlines and folds those."""

    def __init__(self, server: CompileLensServer, store: StageStore) -> None:
        self._server, self._store = server, store
        server.on(types.WORKSPACE_TEXT_DOCUMENT_CONTENT, self._content)
        server.on(STAGE_LINKS, self._links)
        server.on(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL, self._symbols)
        server.on(types.TEXT_DOCUMENT_FOLDING_RANGE, self._folds)
        store.on_change(self._changed)

    async def register(self) -> None:
        """Ask the editor to take the text of stages from here."""
        if self._server.editor.takes_contents:
            options = types.TextDocumentContentRegistrationOptions(schemes=[SCHEME])
            wanted = types.Registration("stages", types.WORKSPACE_TEXT_DOCUMENT_CONTENT, options)
            with contextlib.suppress(JsonRpcException):  # it refuses, and shows nothing of the scheme
                await self._server.client_register_capability_async(types.RegistrationParams([wanted]))

    def _changed(self, key: str) -> None:
        """Have the editor ask again for what it shows of a key."""
        if not self._server.editor.takes_contents:
            return
        shown = [snapshot.uri for snapshot in self._store.open_documents(key)]
        for uri in shown:
            self._server.background.start(self._refresh(uri))
        if self._server.editor.links_stages:
            self._server.protocol.notify(CHANGED, {"uris": shown})

    async def _refresh(self, uri: str) -> None:
        with contextlib.suppress(JsonRpcException):  # the editor has closed it meanwhile
            await self._server.workspace_text_document_content_refresh_async(
                types.TextDocumentContentRefreshParams(uri)
            )

    async def _content(self, params: types.TextDocumentContentParams) -> types.TextDocumentContentResult:
        text = await self._store.text(params.uri)
        return types.TextDocumentContentResult(GONE if text is None else visible(text))

    async def _links(self, params: Any) -> dict[str, Any] | None:
        uri = getattr(getattr(params, "textDocument", None), "uri", None)
        if not isinstance(uri, str):
            raise JsonRpcInvalidParams(f"{STAGE_LINKS} needs textDocument.")
        found = await self._store.find(uri)
        if found is None:
            return None
        links = await asyncio.to_thread(found.of.links, found.stage)
        told = [told for link in links if (told := self._told(found, link)) is not None]
        index = self._server.sources.index(found.of.facts.file)
        return {
            "title": visible(found.stage.title),
            "stale": found.of.is_stale(index),
            "bands": [
                {"first": first - 1, "last": last - 1, "color": color}
                for first, last, color in await asyncio.to_thread(bands, links)
            ],
            "links": told,
        }

    def _told(self, found: StageDocument, link: Link) -> dict[str, Any] | None:
        """A link with the lines of the source where they are now; None for those that are gone."""
        place = self.place(found, link.file, link.line)
        if place is None:
            return None
        uri, line = place
        ranges = [[first - 1, last - 1] for first, last in link.ranges]
        end = line + link.end_line - link.line
        return {"uri": uri, "line": line, "endLine": end, "ranges": ranges, "color": link.color}

    def place(self, found: StageDocument, file: str, then: int) -> tuple[str, int] | None:
        """Where a line, as it was, is now in the editor, from 0; None if it is gone."""
        moves = found.of.line_map(file, self._server.sources.index(file))
        now = moves.now(then) if moves is not None else then
        if now is None:
            return None
        return self._server.notebooks.in_cell(uri_from_path(file, self._server.sources), now - 1)

    async def _symbols(self, params: types.DocumentSymbolParams) -> list[types.DocumentSymbol] | None:
        found = await self._store.find(params.text_document.uri)
        if found is None:
            return None
        return await asyncio.to_thread(lambda: _nested(parts_of(found.stage.text, found.stage.language)))

    async def _folds(self, params: types.FoldingRangeParams) -> list[types.FoldingRange] | None:
        found = await self._store.find(params.text_document.uri)
        if found is None:
            return None
        folds = await asyncio.to_thread(lambda: folds_of(found.stage.text, found.stage.language))
        return [types.FoldingRange(first - 1, last - 1) for first, last in folds]


def _nested(parts: list[OutlinePart]) -> list[types.DocumentSymbol]:
    """Parts as symbols, each in the one that it is in."""
    found: list[types.DocumentSymbol] = []
    around: list[types.DocumentSymbol] = []
    for part in parts:
        whole = types.Range(types.Position(part.first_line - 1, 0), types.Position(part.last_line, 0))
        head = types.Range(types.Position(part.first_line - 1, 0), types.Position(part.first_line - 1, 0))
        symbol = types.DocumentSymbol(visible(part.name), KINDS[part.kind], whole, head, children=[])
        del around[part.depth :]
        siblings = around[-1].children if around else None
        (siblings if isinstance(siblings, list) else found).append(symbol)
        around.append(symbol)
    return found
