"""The parts of the feature, put together."""

from __future__ import annotations

from collections.abc import Callable

from compile_lens.lsp.compiler_stages.commands import StageCommands
from compile_lens.lsp.compiler_stages.documents import StageDocuments
from compile_lens.lsp.compiler_stages.making import StageMaking
from compile_lens.lsp.compiler_stages.navigation import StageNavigation
from compile_lens.lsp.compiler_stages.store import StageStore
from compile_lens.lsp.compiler_stages.told import StageWords
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.lsp.progress import ProgressFeature
from compile_lens.lsp.runs import Runs


class Stages:
    """The compiler's stages in an editor."""

    def __init__(self, server: CompileLensServer, runs: Runs, progress: ProgressFeature) -> None:
        self.store = StageStore(server)
        self.documents = StageDocuments(server, self.store)
        navigation = StageNavigation(server, self.store, self.documents)
        making = StageMaking(server, runs, progress, self.store)
        self.commands = StageCommands(server, runs, self.store, making, self.documents)
        self.words = StageWords(server, self.store, navigation)

    def on_change(self, *listeners: Callable[[], None]) -> None:
        """Call ``listeners`` when stages are new, renewed or gone."""
        for listener in listeners:
            self.store.on_change(lambda _, listener=listener: listener())  # type: ignore[misc]
