"""What an editor's views show: ``compileLens/tree`` when something changed, and the answer to ``compileLens/detailsAt``.

docs/editors/protocol.md describes both.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from typing import Any

from pygls.exceptions import JsonRpcInvalidParams

from compile_lens.analysis.outcome import Outcome
from compile_lens.documents.documents import file_key
from compile_lens.lsp.compiler_stages.told import StageWords
from compile_lens.lsp.details_at import DetailsAt
from compile_lens.lsp.diagnostics import Diagnostics
from compile_lens.lsp.document_facts import DocumentFactsOf
from compile_lens.lsp.fixes import Fixes
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.lsp.notebooks import Notebooks
from compile_lens.lsp.offered import DETAILS_AT
from compile_lens.lsp.predictions import Predictions
from compile_lens.lsp.runs import Runs
from compile_lens.lsp.tree import Tree
from compile_lens.lsp.tree_nodes import Node
from compile_lens.pipeline.run_history import RunHistory
from compile_lens.syntax.tree import SourceTree, parse

TREE = "compileLens/tree"
# partial outcomes and edits come in bursts
PAUSE_S = 0.1


class Views:
    """Sends the tree to an editor that shows it, once for each burst of changes."""

    def __init__(
        self,
        server: CompileLensServer,
        runs: Runs,
        diagnostics: Diagnostics,
        fixes: Fixes,
        facts: DocumentFactsOf,
        predictions: Predictions,
        stages: StageWords,
    ) -> None:
        self._server, self._runs, self._facts = server, runs, facts
        self._history = RunHistory()
        self._tree = Tree(server, runs, fixes, self._history, stages)
        self._details = DetailsAt(server, runs, fixes, predictions, self._history, stages)
        self._sent: list[dict[str, Any]] = []
        self._pause: asyncio.TimerHandle | None = None
        server.on(DETAILS_AT, self._on_details)
        runs.on_end(self._on_end)
        if server.editor.shows_tree:
            runs.on_change(self._changed)
            diagnostics.on_change(self._changed)

    def refresh(self) -> None:
        """Something that the tree shows has changed."""
        self._changed()

    def show_traces(self, names: Callable[[], tuple[str, ...]]) -> None:
        """Show the traces that are open, too: ``names`` gives the names of their outcomes."""
        self._tree.traces = names

    def _on_end(self, uri: str, outcome: Outcome | None, _: Mapping[str, int]) -> None:
        if outcome is not None and outcome.final:
            self._server.background.start(self._remember(uri, outcome))
        elif self._server.documents.get(uri) is None:
            self._history.forget(uri)

    async def _remember(self, uri: str, outcome: Outcome) -> None:
        ended = datetime.now().astimezone()
        ran = self._runs.last.snapshot(uri)

        @lru_cache(maxsize=1)
        def tree_of(file: str) -> SourceTree | None:
            is_short = ran is not None and not self._facts.is_long(ran)
            return (
                parse(ran.text) if ran is not None and is_short and file_key(file) == file_key(outcome.file) else None
            )

        await asyncio.to_thread(self._history.add, uri, outcome, ended, tree_of)
        if self._server.documents.get(uri) is None:
            self._history.forget(uri)
        self._changed()

    def _changed(self) -> None:
        if self._server.editor.shows_tree and self._pause is None:
            self._pause = asyncio.get_running_loop().call_later(PAUSE_S, self._send)

    def _send(self) -> None:
        self._pause = None
        if self._server.stopped.is_set():
            return
        files = [_in_cells(self._server.notebooks, node).to_json() for node in self._tree.files()]
        if files != self._sent:
            self._sent = files
            self._server.protocol.notify(TREE, {"files": files})

    def _on_details(self, params: Any) -> dict[str, Any] | None:
        uri = getattr(getattr(params, "textDocument", None), "uri", None)
        position = getattr(params, "position", None)
        line, character = getattr(position, "line", None), getattr(position, "character", None)
        if not isinstance(uri, str) or not isinstance(line, int) or not isinstance(character, int):
            raise JsonRpcInvalidParams(f"{DETAILS_AT} needs textDocument and position.")
        uri, line = self._server.notebooks.in_document(uri, line)
        snapshot = self._server.documents.get(uri)
        return self._details.at(snapshot, line, character) if snapshot is not None else None


def _in_cells(notebooks: Notebooks, node: Node) -> Node:
    """``node`` with places in documents that are made of cells as places in these."""
    children = tuple(_in_cells(notebooks, child) for child in node.children)
    if node.range is None:
        return replace(node, children=children)
    uri, place = notebooks.range_in_cell(node.uri, node.range)
    return replace(node, uri=uri, range=place, children=children)
