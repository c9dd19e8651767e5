"""Hovers: what a finding means and what to do about it; what ``torch.compile`` did in the last run; what a name of torch means."""

from __future__ import annotations

from lsprotocol import types

from compile_lens.analysis.finding import Finding, Kind, Place, Severity
from compile_lens.documents.documents import Snapshot, file_key
from compile_lens.lsp.compiler_stages.told import StageWords
from compile_lens.lsp.convert import from_position, to_range, uri_from_path
from compile_lens.lsp.document_facts import DocumentFactsOf
from compile_lens.lsp.fixes import Fixes
from compile_lens.lsp.knowledge_hover import KnowledgeHovers
from compile_lens.lsp.knowledge_store import KnowledgeStore
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.lsp.markdown import finding_markdown, region_markdown
from compile_lens.lsp.predictions import Predictions
from compile_lens.lsp.runs import Runs
from compile_lens.state.consent import Permission
from compile_lens.syntax.regions import Region

NO_RESULT = {
    Permission.ALLOWED: "No result for this region yet. Save the file to analyze it.",
    Permission.ASK: "Not analyzed. Allow Compile Lens to run the files of this workspace.",
    Permission.REFUSED: "Not analyzed. Background runs are not allowed in this workspace.",
    Permission.UNTRUSTED: "Not analyzed. This workspace is not trusted.",
    Permission.UNSET: "Not analyzed. Set `compileLens.run.enabled` to `ask` or `always` to allow background runs.",
}


class Hovers:
    """Answers synchronously from the results, so that the answer fits the version that the editor means."""

    def __init__(
        self,
        server: CompileLensServer,
        runs: Runs,
        store: KnowledgeStore,
        predictions: Predictions,
        facts: DocumentFactsOf,
        fixes: Fixes,
        stages: StageWords,
    ) -> None:
        self._server = server
        self._stages = stages
        self._runs = runs
        self._knowledge = KnowledgeHovers(store, server.results, facts)
        self._predictions = predictions
        self._fixes = fixes
        server.on(types.TEXT_DOCUMENT_HOVER, self._on_hover)

    def _on_hover(self, params: types.HoverParams) -> types.Hover | None:
        snapshot = self._server.documents.get(params.text_document.uri)
        if snapshot is None:
            return None
        found = self._of_place(snapshot, params)
        kernels = self._stages.hover(snapshot, params.position.line + 1)
        if not kernels:
            return found
        about = types.Hover(self._server.editor.markup(kernels))
        return _joined(found, about) if found is not None else about

    def _of_place(self, snapshot: Snapshot, params: types.HoverParams) -> types.Hover | None:
        server = self._server
        server.documents.looked_at(snapshot.uri)
        point = snapshot.index.point(from_position(params.position), server.editor.encoding)
        around = self._region_at(snapshot, snapshot.path, point) if snapshot.path is not None else None
        region = self._on_region(snapshot, around) if around is not None else None
        if snapshot.path is not None and (found := self._on_finding(snapshot, snapshot.path, point)) is not None:
            # a finding may be at the region itself, whose summary is shown, too
            return found if region is None else _joined(found, region)
        known = self._knowledge.at(snapshot, point, around)
        if known is None:
            return region
        place = known.range
        where = Place(snapshot.path or "", place.line, place.column, place.end_line, place.end_column)
        meaning = self._hover(known.markdown, where, snapshot)
        # on `torch.compile` itself, what it did comes first; on an argument, only its meaning is shown
        return _joined(region, meaning) if region is not None and known.compiles else meaning

    def _on_finding(self, snapshot: Snapshot, path: str, point: tuple[int, int]) -> types.Hover | None:
        server = self._server
        findings = (*server.results.findings(file_key(path)), *self._predictions.current(snapshot))
        found = [finding for finding in findings if _holds(finding.place, point)]
        if not found:
            return None
        texts = [self._finding(finding, path, snapshot) for finding in found]
        return self._hover("\n\n---\n\n".join(texts), found[0].place, snapshot)

    def _finding(self, finding: Finding, path: str, snapshot: Snapshot) -> str:
        server = self._server
        # an editor shows the message of a hint at its first characters only
        says_message = not server.editor.shows_messages_in_hovers or finding.severity is Severity.HINT
        text = finding_markdown(
            finding,
            lambda file: uri_from_path(file, server.sources),
            self._fixes.in_hover(snapshot, finding),
            says_message,
        )
        # a break that happened has torch's own explanation already
        is_predicted = finding.kind is Kind.PREDICTION
        return f"{text}\n\n{self._knowledge.of_code(finding.code, path)}".strip() if is_predicted else text

    def _region_at(self, snapshot: Snapshot, path: str, point: tuple[int, int]) -> Region | None:
        regions = [region for region in self._runs.regions(snapshot) if _holds(_place(region, path), point)]
        # the innermost of nested regions starts last
        return max(regions, key=lambda region: (region.line, region.column), default=None)

    def _on_region(self, snapshot: Snapshot, region: Region) -> types.Hover:
        path = snapshot.path or ""
        results = [
            result
            for result in self._server.results.regions(file_key(path))
            if (result.summary.place.line, result.summary.place.column) == (region.line, region.column)
        ]
        text = region_markdown(results) if results else NO_RESULT[self._runs.permissions.of(path)]
        return self._hover(text, _place(region, path), snapshot)

    def _hover(self, text: str, place: Place, snapshot: Snapshot) -> types.Hover:
        editor = self._server.editor
        return types.Hover(editor.markup(text), to_range(place, snapshot.index, editor.encoding))


def _joined(first: types.Hover, second: types.Hover) -> types.Hover:
    texts = [hover.contents.value for hover in (first, second) if isinstance(hover.contents, types.MarkupContent)]
    kind = first.contents.kind if isinstance(first.contents, types.MarkupContent) else types.MarkupKind.PlainText
    return types.Hover(types.MarkupContent(kind, "\n\n---\n\n".join(texts)), first.range)


def _holds(place: Place, point: tuple[int, int]) -> bool:
    start, end = (place.line, place.column), (place.end_line, place.end_column)
    return start <= point < end or point == start


def _place(region: Region, path: str) -> Place:
    return Place(path, region.line, region.column, region.end_line, region.end_column)
