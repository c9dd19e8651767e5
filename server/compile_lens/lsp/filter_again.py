"""Shows what the runs found by other filters, without another run."""

from __future__ import annotations

import asyncio

from compile_lens.analysis.filters import apply
from compile_lens.analysis.finding import Finding
from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.syntax.tree import parse


async def filter_again(server: CompileLensServer) -> set[str]:
    """Apply the filters of the settings to the findings of all runs; the keys of the files whose findings changed."""
    while True:
        texts = _texts(server)
        trees = await asyncio.to_thread(lambda: {file: parse(text) for file, text in texts.items()})  # noqa: B023 - awaited
        if texts == _texts(server):  # nobody has typed meanwhile
            break

    def choose(outcome: Outcome, found: tuple[Finding, ...]) -> tuple[Finding, ...]:
        completed = outcome.final and outcome.status is Status.OK
        return apply(found, server.settings.filters, outcome.file, trees.get, completed).findings

    return server.results.filter_again(choose)


def _texts(server: CompileLensServer) -> dict[str, str]:
    indexes = {file: server.sources.index(file) for file in server.results.unfiltered_files()}
    return {file: index.text for file, index in indexes.items() if index is not None}
