"""Opens a trace of another run in the editor: its findings, lenses and hovers stand in the files of this machine that it is about."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from compile_lens.agent.runtime.regular_file import is_file
from compile_lens.analysis.filters import apply
from compile_lens.analysis.outcome import Outcome
from compile_lens.documents.source_file import source_if_named
from compile_lens.lsp.compiler_stages.store import StageStore
from compile_lens.lsp.convert import path_argument, uri_from_path
from compile_lens.lsp.diagnostics import Diagnostics
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.pipeline.opened_trace import TraceOptions, open_trace
from compile_lens.pipeline.results import EditsOf
from compile_lens.settings.settings import Settings
from compile_lens.syntax.tree import SourceTree, parse
from compile_lens.trace.files import TraceError

OPEN = "compileLens.openTrace"
CLOSE = "compileLens.closeTraces"


class Traces:
    """The traces that are open. What they tell stays until they are closed, beside what runs tell."""

    def __init__(
        self, server: CompileLensServer, diagnostics: Diagnostics, stages: StageStore, on_shown: Callable[[], None]
    ) -> None:
        self._server = server
        self._stages = stages
        self._diagnostics = diagnostics
        self._on_shown = on_shown
        self._open: list[str] = []
        # told when all traces are closed
        self.on_closed: list[Callable[[], object]] = []

    def commands(self) -> dict[str, Callable[[str | None], Awaitable[Any]]]:
        """The commands by name."""
        return {OPEN: self._open_trace, CLOSE: self._close}

    def names(self) -> tuple[str, ...]:
        """The names under which the results have what is open: the URI of a trace, ``#``, and the number of its outcome."""
        return tuple(self._open)

    async def _open_trace(self, uri: str | None) -> dict[str, Any] | None:
        """Open the trace at ``uri``: a file or a folder. Answers what it tells; None if it cannot be read, which is said."""
        path = Path(path_argument(OPEN, uri))
        written = await self._stages.add_debug_folder(path)
        if written is not None:
            first = next((stage for graph in written.graphs for stage in graph.documents), None)
            name = self._stages.name(written, first) if first is not None else None
            return {"ranks": 0, "findings": 0, "elsewhere": 0, "files": [], "notes": [], "stages": name}
        settings, folders = self._server.settings, tuple(map(str, self._server.folders()))
        options = TraceOptions(tuple(settings.traces.map.items()), folders, settings.just_my_code)
        try:
            shown, problems, files = await asyncio.to_thread(_read, path, options, settings)
        except TraceError as problem:
            self._server.warn(f"Compile Lens: {problem}")
            return None
        self.publish(str(uri), shown)
        self._server.background.start(self._stages.add_traces(path))
        for problem_text in problems:
            self._server.warn(f"Compile Lens: {problem_text}")
        findings = [finding for outcome in shown for finding in outcome.findings]
        return {
            "ranks": sum(max(len(outcome.ranks), 1) for outcome in shown),
            "findings": len(findings),
            "elsewhere": sum(1 for finding in findings if finding.place.file not in files),
            "files": [uri_from_path(file, self._server.sources) for file in files],
            "notes": [note for outcome in shown for note in outcome.notes],
        }

    def publish(self, uri: str, shown: Sequence[Outcome], edits_of: EditsOf = lambda _: []) -> None:
        """Show what the trace at ``uri`` tells, in place of what it told before."""
        before = {name for name in self._open if name.rpartition("#")[0] == uri}
        names = [f"{uri}#{number}" for number in range(len(shown))]
        changed = {key for name in before.difference(names) for key in self._server.results.forget(name)}
        for name, outcome in zip(names, shown, strict=True):
            changed |= self._server.results.publish(name, outcome, edits_of)
        self._open = [name for name in self._open if name not in before] + names
        self._show(changed)

    async def _close(self, _: str | None) -> None:
        """Close all traces, those that are followed, too."""
        for closed in self.on_closed:
            closed()
        changed = {key for name in self._open for key in self._server.results.forget(name)}
        self._open.clear()
        self._stages.forget_traces()
        self._show(changed)

    def _show(self, changed: set[str]) -> None:
        self._diagnostics.show(changed)
        self._on_shown()


def _read(path: Path, options: TraceOptions, settings: Settings) -> tuple[list[Outcome], tuple[str, ...], list[str]]:
    """The outcomes at ``path`` as the settings want them shown, what could not be read, and the files that are here. Raises TraceError."""
    opened = open_trace(path, options)
    shown = [as_settings_want(outcome, settings) for outcome in opened.merged()]
    named = dict.fromkeys(finding.place.file for outcome in shown for finding in outcome.findings)
    return shown, opened.problems, [file for file in named if is_file(file)]


def as_settings_want(outcome: Outcome, settings: Settings) -> Outcome:
    """``outcome`` of a trace without the findings that settings or comments hide."""
    files = {finding.place.file for finding in outcome.findings}
    trees: dict[str, SourceTree] = {}
    for file in files:
        text = source_if_named(file)
        if text is not None:
            trees[file] = parse(text)
    # of a file that a trace does not name nothing is known, so no comment in it is called unused
    filtered = apply(outcome.findings, settings.filters, outcome.file, trees.get, False)
    return replace(
        outcome, findings=filtered.findings, hidden=sum(filtered.hidden.values()), unfiltered=outcome.findings
    )
