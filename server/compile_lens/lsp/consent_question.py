"""Keeps asking for background runs after the question was closed: code lenses, a code action, and a notification for the status bar."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from compile_lens.documents.documents import Snapshot
from compile_lens.lsp.background_runs import EXPLAIN
from compile_lens.lsp.code_actions import command_action
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.lsp.permissions import ALLOW_COMMAND, ALLOW_TITLE
from compile_lens.lsp.runs import Runs

METHOD = "compileLens/consent"
ANALYZE_TITLE = "Analyze"
EXPLAIN_TITLE = "what does this do?"


class ConsentQuestion:
    """Sends ``waiting`` when it changes: whether a file is open that would run if the user allowed it."""

    def __init__(self, server: CompileLensServer, runs: Runs) -> None:
        self._server = server
        self._runs = runs
        self._last = False
        runs.on_change(self._tell)

    def waits(self, snapshot: Snapshot) -> bool:
        """Whether ``snapshot`` would run if the user allowed it."""
        if snapshot.path is None or not snapshot.is_python or not self._runs.permissions.waits(snapshot.path):
            return False
        return bool(self._runs.regions(snapshot))

    def lenses(self, snapshot: Snapshot, analyze: str) -> Iterator[types.CodeLens]:
        """Above the first region; ``analyze`` is the command that runs a file once."""
        if not self.waits(snapshot):
            return
        line = min(region.line for region in self._runs.regions(snapshot)) - 1
        place = types.Range(types.Position(line, 0), types.Position(line, 0))
        yield types.CodeLens(place, types.Command(ANALYZE_TITLE, analyze, arguments=[snapshot.uri]))
        yield types.CodeLens(place, types.Command(EXPLAIN_TITLE, EXPLAIN, arguments=[snapshot.uri]))

    def actions(self, snapshot: Snapshot, params: types.CodeActionParams) -> Iterator[types.CodeAction]:
        """At each region, for editors that show neither questions nor lenses."""
        if self.waits(snapshot):
            lines = range(params.range.start.line + 1, params.range.end.line + 2)
            if any(region.line in lines for region in self._runs.regions(snapshot)):
                kind = types.CodeActionKind.QuickFix.value
                yield command_action(ALLOW_TITLE, ALLOW_COMMAND, [snapshot.uri], kind)

    def _tell(self) -> None:
        waiting = any(self.waits(snapshot) for snapshot in self._server.documents.all())
        if waiting != self._last and self._server.editor.shows_status:
            self._last = waiting
            self._server.protocol.notify(METHOD, {"waiting": waiting})
