"""Code actions at a compile region: compare it with eager, and find out what makes it recompile."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from compile_lens.documents.documents import Snapshot
from compile_lens.lsp.code_actions import command_action
from compile_lens.lsp.commands import COMPARE, VARY
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.lsp.runs import Runs


class RegionActions:
    """Offers both actions in a region and in the function or class that it compiles. Their results are diagnostics."""

    def __init__(self, server: CompileLensServer, runs: Runs) -> None:
        self._server = server
        self._runs = runs

    def actions(self, snapshot: Snapshot, params: types.CodeActionParams) -> Iterator[types.CodeAction]:
        """The actions for the innermost region at a range."""
        line = params.range.start.line + 1
        name = self._runs.region_at(snapshot, line)
        if name is not None and snapshot.path is not None and self._server.trusted:
            yield command_action("Compare the compiled results of this file with eager", COMPARE, [snapshot.uri])
            yield command_action(f"Find inputs that make `{name}` recompile", VARY, [snapshot.uri, name])
