"""Shows what the runs found by other filters, without another run."""

from __future__ import annotations

from compile_lens.analysis.filters import apply
from compile_lens.analysis.finding import Finding
from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.syntax.tree import SourceTree, parse


def filter_again(server: CompileLensServer) -> set[str]:
    """Apply the filters of the settings to the findings of all runs; the keys of the files whose findings changed."""

    def tree_of(file: str) -> SourceTree | None:
        index = server.sources.index(file)
        return parse(index.text) if index is not None else None

    def choose(outcome: Outcome, found: tuple[Finding, ...]) -> tuple[Finding, ...]:
        completed = outcome.final and outcome.status is Status.OK
        return apply(found, server.settings.filters, outcome.file, tree_of, completed).findings

    return server.results.filter_again(choose)
