"""A code action at each compile region: compare what it computes with eager."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from compile_lens.lsp.commands import COMPARE
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.lsp.runs import Runs
from compile_lens.session.documents import Snapshot

TITLE = "Compare with eager: run this file, and check the numbers of what is compiled"


class Comparing:
    """Offers the command where the cursor is at a region, or in what it wraps. What it finds comes as diagnostics."""

    def __init__(self, server: CompileLensServer, runs: Runs) -> None:
        self._server = server
        self._runs = runs

    def actions(self, snapshot: Snapshot, params: types.CodeActionParams) -> Iterator[types.CodeAction]:
        """One action, or none."""
        line = params.range.start.line + 1
        inside = any(
            region.line <= line <= region.end_line
            or (region.target_line is not None and region.target_line <= line <= (region.target_end_line or 0))
            for region in self._runs.regions(snapshot)
        )
        if inside and snapshot.path is not None and self._server.trusted:
            command = types.Command(title=TITLE, command=COMPARE, arguments=[snapshot.uri])
            yield types.CodeAction(title=TITLE, command=command)
