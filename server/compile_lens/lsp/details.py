"""The details of a result lens: a page with what the last run did with a region or function, and all that was found there."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from compile_lens.analysis.finding import Finding
from compile_lens.documents.documents import Snapshot, file_key
from compile_lens.lsp.convert import path_argument, sentence, uri_from_path
from compile_lens.lsp.document_facts import DocumentFactsOf
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.lsp.markdown import finding_markdown, region_markdown
from compile_lens.lsp.pages import Pages
from compile_lens.lsp.runs import Runs
from compile_lens.repro.history import history_file
from compile_lens.shown_text import code_span, markdown_text
from compile_lens.syntax.definitions import definition_at, definitions, parse_with_definitions

DETAILS = "compileLens.showDetails"


class Details:
    """Shows the details of a document, or of what stands at one of its lines. Nothing runs."""

    def __init__(self, server: CompileLensServer, runs: Runs, facts: DocumentFactsOf, pages: Pages) -> None:
        self._server, self._runs, self._facts, self._pages = server, runs, facts, pages

    async def show(self, uri: str | None, line: str | None) -> dict[str, Any] | None:
        """Show the page, and return it. None if the document is not open."""
        path = path_argument(DETAILS, uri)
        snapshot = self._server.documents.get(str(uri))
        if snapshot is None:
            return None
        number = int(line) if line is not None and line.isdecimal() else 0
        title, parts = Path(path).name, []
        first, last, name = await self._lines(snapshot, number)
        if name:
            title = f"{name} in {title}"
        parts = list(self._parts(snapshot, path, first, last, name))
        page = "\n\n".join([f"# {markdown_text(title)}", *(parts or ["Nothing was found here in the last run."])])
        await self._pages.show(title, page, history_file(Path(path)).with_suffix(".details.md"))
        return {"title": title, "markdown": page}

    async def _lines(self, snapshot: Snapshot, line: int) -> tuple[int, int, str]:
        """The lines that the page is about, and the name of what stands there; the whole file for line 0."""
        if not line:
            return 1, snapshot.index.line_count, ""
        for region in self._runs.regions(snapshot):
            if region.line == line:
                return region.line, max(region.end_line, region.target_end_line or 0), region.name
        tree = self._facts.tree(snapshot)
        if tree is None:
            tree = await asyncio.to_thread(parse_with_definitions, snapshot.text)
        around = [d for d in definitions(tree) if line in (d.first_line, d.def_line)]
        found = around[0] if around else definition_at(tree, line)
        return (found.first_line, found.last_line, found.qualified_name) if found is not None else (line, line, "")

    def _parts(self, snapshot: Snapshot, path: str, first: int, last: int, name: str) -> Iterator[str]:
        results, key = self._server.results, file_key(path)
        here = [
            result
            for result in (*results.regions(key), *results.functions(key))
            if first <= result.summary.place.line <= last and result.summary.frames
        ]
        outcome = results.outcome(snapshot.uri, name)
        if name and outcome is not None:
            inputs = "; ".join(code_span(f"{call.making} on {call.inputs}") for call in outcome.calls if call.inputs)
            yield f"Analyzed as if it were compiled{f', with {inputs}' if inputs else ''}."
            if outcome.failure:
                yield markdown_text(outcome.failure)
        if here:
            yield region_markdown(here)
        for note in outcome.notes if outcome is not None else ():
            yield markdown_text(note)
        for finding in results.findings(key):
            if first <= finding.place.line <= last:
                yield self._finding(finding)

    def _finding(self, finding: Finding) -> str:
        server = self._server
        about = finding_markdown(
            finding, lambda file: uri_from_path(file, server.sources), says_message=False, whole=True
        )
        return f"## Line {finding.place.line}: {markdown_text(sentence(finding))}\n\n{about}"
