"""Code actions at each compile region: compare what it computes with eager, and ask what would make it recompile."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from compile_lens.documents.documents import Snapshot
from compile_lens.lsp.commands import COMPARE, VARY
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.lsp.runs import Runs

TITLE = "Compare with eager: run this file, and check the numbers of what is compiled"
VARY_TITLE = "What would make `{}` recompile? Run it with other inputs"


class Comparing:
    """Offers the commands where the cursor is at a region, or in what it wraps. What it finds comes as diagnostics."""

    def __init__(self, server: CompileLensServer, runs: Runs) -> None:
        self._server = server
        self._runs = runs

    def actions(self, snapshot: Snapshot, params: types.CodeActionParams) -> Iterator[types.CodeAction]:
        """Both, or none."""
        line = params.range.start.line + 1
        inside = [
            region
            for region in self._runs.regions(snapshot)
            if region.line <= line <= region.end_line
            or (region.target_line is not None and region.target_line <= line <= (region.target_end_line or 0))
        ]
        if inside and snapshot.path is not None and self._server.trusted:
            command = types.Command(title=TITLE, command=COMPARE, arguments=[snapshot.uri])
            yield types.CodeAction(title=TITLE, command=command)
            # of regions in each other the innermost
            name = min(inside, key=lambda region: region.end_line - region.line).name
            title = VARY_TITLE.format(name)
            yield types.CodeAction(
                title=title, command=types.Command(title=title, command=VARY, arguments=[snapshot.uri, name])
            )
