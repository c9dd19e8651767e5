"""Inlay hints (off by default): where a graph ends, and which dimensions of a parameter are dynamic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from lsprotocol import types

from compile_lens.analysis.dimensions import DynamicParameter
from compile_lens.analysis.finding import Finding, Kind, RegionSummary
from compile_lens.documents.documents import Snapshot, file_key
from compile_lens.lsp.document_facts import DocumentFactsOf
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.lsp.refresh import Refresh
from compile_lens.lsp.runs import Runs
from compile_lens.shown_text import visible
from compile_lens.wording import and_more

MOST_OWNERS = 3


class Inlays:
    """Answers synchronously from the results, so that the answer fits the version that the editor means."""

    def __init__(self, server: CompileLensServer, runs: Runs, facts: DocumentFactsOf) -> None:
        self._server = server
        self._facts = facts
        self._refresh = Refresh(server, lambda: server.workspace_inlay_hint_refresh_async(None))
        server.on(types.TEXT_DOCUMENT_INLAY_HINT, self._on_hints)
        runs.on_change(self._changed)

    def _changed(self) -> None:
        if self._server.editor.refreshes_inlays:
            self._refresh.request()

    def _on_hints(self, params: types.InlayHintParams) -> list[types.InlayHint]:
        server = self._server
        snapshot = server.documents.get(params.text_document.uri)
        if snapshot is None or snapshot.path is None or not server.settings.inlays.enabled:
            return []
        server.documents.looked_at(snapshot.uri)
        hints = []
        for line, column, label, tooltip in self._labels(snapshot, snapshot.path):
            at = snapshot.index.position_of(line, column, server.editor.encoding)
            if params.range.start.line <= at.line <= params.range.end.line:
                position = types.Position(at.line, at.character)
                hints.append(types.InlayHint(position, visible(label), tooltip=visible(tooltip), padding_left=True))
        return hints

    def _labels(self, snapshot: Snapshot, path: str) -> Iterator[tuple[int, int, str, str]]:
        """Line, column, label and tooltip of each hint."""
        key = file_key(path)
        ends = [f for f in self._server.results.findings(key) if f.kind is Kind.GRAPH_BREAK and f.frames]
        yield from _graph_ends([result.summary for result in self._server.results.functions(key)], ends)
        for parameter in self._server.results.dynamic(key):
            tooltip = "Compiled as a symbolic size: other values do not recompile."
            yield parameter.place.end_line, parameter.place.end_column, _dynamic(parameter), tooltip


def _graph_ends(functions: Sequence[RegionSummary], breaks: Sequence[Finding]) -> Iterator[tuple[int, int, str, str]]:
    """Graphs are numbered per compiled function. One that was inlined into several ends a graph of each of them."""
    counts: Counter[str] = Counter()
    for finding in breaks:
        owners = list(dict.fromkeys(f.name for f in functions if set(f.frames) & set(finding.frames)))
        counts.update(owners)
        if not owners:
            label = "⟂ graph ends"
        elif len(owners) == 1:
            label = f"⟂ graph {counts[owners[0]]} of {owners[0]} ends"
        else:
            label = f"⟂ graphs of {', '.join(owners[:MOST_OWNERS])}{and_more(len(owners) - MOST_OWNERS)} end"
        yield finding.place.end_line, finding.place.end_column, label, finding.message


def _dynamic(parameter: DynamicParameter) -> str:
    numbers = ", ".join(map(str, parameter.dimensions))
    if not numbers:
        return "dynamic"
    return f"dim{'s' if len(parameter.dimensions) > 1 else ''} {numbers} dynamic"
