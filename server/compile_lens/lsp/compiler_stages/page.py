"""The linked page of all stages of a file, with the picture of each graph: for an editor that shows HTML, else for a browser."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from compile_lens.formats.stages_page import StagesPage, to_html
from compile_lens.lsp.compiler_stages.store import StageStore
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.pipeline.stage_set import StageSet
from compile_lens.stages.model import Graph
from compile_lens.stages.timeline import read_timeline

NAME = "page.html"


class StagePages:
    """Makes the page of what is known, and opens it."""

    def __init__(self, server: CompileLensServer, store: StageStore) -> None:
        self._server, self._store = server, store

    async def show(self, of: StageSet, path: str = "", line: int = 0) -> dict[str, Any]:
        """The ``title`` and the ``html`` for an editor that shows it; another one opens a file in the browser.

        With a line (from 1) of the file ``path``, the picture of the graph that it belongs to comes first.
        """
        moves = of.line_map(path, self._server.sources.index(path)) if line else None
        then = (moves.then(line) if moves is not None else line) or 0
        html = await asyncio.to_thread(lambda: to_html(_page(of, of.graph_at(path, then) if then else None)))
        if self._server.editor.links_stages:
            return {"title": of.facts.title, "html": html, "stage": self._store.name(of, of.graphs[0].documents[0])}
        file = await asyncio.to_thread(self._store.folders.write_document, of.key, NAME, html)
        return {"title": of.facts.title, **await open_in_browser(self._server, file)}


async def open_in_browser(server: CompileLensServer, file: Path) -> dict[str, Any]:
    """Ask an editor that does not show HTML to open a page in a browser, or tell the user where the page is."""
    try:
        shown = await server.window_show_document_async(types.ShowDocumentParams(file.as_uri(), external=True))
        is_shown = shown.success
    except JsonRpcException:
        is_shown = False
    if not is_shown:
        server.say(f"Compile Lens wrote {file}.")
    return {"uri": file.as_uri()}


def _page(of: StageSet, first: Graph | None) -> StagesPage:
    def lines_of(recorded: str) -> Sequence[str] | None:
        text = of.facts.texts.get(of.here(recorded, 1)[0])
        return text.split("\n") if text is not None else None

    trace = of.opened.trace
    timeline = read_timeline(trace) if trace is not None else None
    return StagesPage(
        title=of.facts.title,
        stages=of.opened,
        lines_of=lines_of,
        graphs=of.graphs,
        timeline=timeline,
        start=first.id if first is not None else "",
    )
