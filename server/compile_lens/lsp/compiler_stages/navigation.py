"""Leads from a line of the source to the generated code that computes it, and from there back."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from lsprotocol import types

from compile_lens.documents.documents import Snapshot
from compile_lens.lsp.compiler_stages.documents import StageDocuments
from compile_lens.lsp.compiler_stages.store import StageDocument, StageStore
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.pipeline.stage_set import KernelAt, StageSet


class StageNavigation:
    """Go to implementation in the source; find references and highlights in a stage."""

    def __init__(self, server: CompileLensServer, store: StageStore, documents: StageDocuments) -> None:
        self._server, self._store, self._documents = server, store, documents
        server.on(types.TEXT_DOCUMENT_IMPLEMENTATION, self._implementation)
        server.on(types.TEXT_DOCUMENT_REFERENCES, self._references)
        server.on(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT, self._highlights)

    def kernels_at(self, snapshot: Snapshot, line: int) -> Iterator[tuple[StageSet, list[KernelAt]]]:
        """The kernels that compute a line (from 1) of a document in the last compilations, by the run or trace that says so."""
        for of in self._store.about(snapshot.path) if snapshot.path is not None else ():
            moves = of.line_map(snapshot.path or "", snapshot.index)
            then = moves.then(line) if moves is not None else line
            found = of.newest(of.kernels_at(snapshot.path or "", then)) if then is not None else []
            if found:
                yield of, found

    async def _implementation(self, params: types.ImplementationParams) -> list[types.Location] | None:
        snapshot = self._server.documents.get(params.text_document.uri)
        if snapshot is None:
            return None
        known = list(self.kernels_at(snapshot, params.position.line + 1))
        found = await asyncio.to_thread(lambda: [self._location(of, at) for of, ats in known for at in ats])
        return found or None

    def _location(self, of: StageSet, at: KernelAt) -> types.Location:
        """Where a kernel is defined, or called if it is torch's own."""
        lines = at.kernel.definition or at.kernel.called_at
        first, last = (lines.first, lines.last) if lines is not None else (1, 1)
        return types.Location(self._store.uri(of, at.code), _lines(first - 1, last - 1))

    async def _references(self, params: types.ReferenceParams) -> list[types.Location] | None:
        found = await self._store.find(params.text_document.uri)
        if found is None:
            return None
        links = await asyncio.to_thread(found.of.links, found.stage)
        line = params.position.line + 1
        places = [
            (link, self._documents.place(found, link.file, link.line))
            for link in links
            if any(first <= line <= last for first, last in link.ranges)
        ]
        return [
            types.Location(place[0], _lines(place[1], place[1] + link.end_line - link.line))
            for link, place in places
            if place is not None
        ] or None

    async def _highlights(self, params: types.DocumentHighlightParams) -> list[types.DocumentHighlight] | None:
        found = await self._store.find(params.text_document.uri)
        if found is None:
            return None
        return await asyncio.to_thread(_same_source, found, params.position.line + 1)


def _same_source(found: StageDocument, line: int) -> list[types.DocumentHighlight] | None:
    """The lines of a stage that were made of what ``line`` was made of."""
    numbers = {
        number
        for link in found.of.links(found.stage)
        if any(first <= line <= last for first, last in link.ranges)
        for first, last in link.ranges
        for number in range(first, last + 1)
    }
    if not numbers:
        return None
    text = found.stage.text.split("\n")
    return [
        types.DocumentHighlight(
            types.Range(types.Position(number - 1, 0), types.Position(number - 1, len(text[number - 1]))),
            types.DocumentHighlightKind.Read,
        )
        for number in sorted(numbers)
        if number <= len(text)
    ]


def _lines(first: int, last: int) -> types.Range:
    return types.Range(types.Position(first, 0), types.Position(last + 1, 0))
