"""Bisects and minifies repros for the editor, with progress and cancel; suggests the logs to run a file with."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from compile_lens.analysis.finding import Finding
from compile_lens.documents.documents import Snapshot, file_key
from compile_lens.lsp.code_actions import command_action
from compile_lens.lsp.convert import path_argument, to_diagnostic, to_range
from compile_lens.lsp.diagnostics import Diagnostics
from compile_lens.lsp.knowledge_store import KnowledgeStore
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.lsp.pages import Pages
from compile_lens.lsp.progress import ProgressFeature, RunProgress
from compile_lens.lsp.runs import Runs
from compile_lens.repro.bisect import bisect
from compile_lens.repro.bisect_document import document, markdown_link
from compile_lens.repro.contract import FIRST_LINE
from compile_lens.repro.history import history_file, recall, remember
from compile_lens.repro.logs import command_of, log_runs
from compile_lens.repro.logs import document as logs_document
from compile_lens.repro.minify import Minified, minify
from compile_lens.repro.verdict import Bisection, BisectionStatus, Step, differences
from compile_lens.repro.verdict_finding import verdict_findings
from compile_lens.workers.host import Host
from compile_lens.workers.interpreter import InterpreterError

BISECT = "compileLens.bisect"
VERIFY = "compileLens.verifyBisection"
MINIFY = "compileLens.minify"
LOGS = "compileLens.logs"
# a repro's actions are offered in its header
HEADER_LINES = 12
Command = Callable[[str | None], Awaitable[Any]]


class Searches:
    """Runs repros many times. Each search has its own process, so that files can be analyzed meanwhile."""

    def __init__(
        self,
        server: CompileLensServer,
        runs: Runs,
        progress: ProgressFeature,
        store: KnowledgeStore,
        diagnostics: Diagnostics,
        pages: Pages,
    ) -> None:
        self._server, self._runs, self._progress, self._store = server, runs, progress, store
        self._pages = pages
        self._diagnostics = diagnostics
        self._verdicts: dict[str, Bisection] = {}
        self._running: set[str] = set()

    def commands(self) -> dict[str, Command]:
        """The commands by name."""
        return {
            BISECT: partial(self._search, self._bisect, BISECT),
            VERIFY: partial(self._search, self._verify, VERIFY),
            MINIFY: partial(self._search, self.minified, MINIFY),
            LOGS: self._logs,
        }

    def actions(self, snapshot: Snapshot, params: types.CodeActionParams) -> Iterator[types.CodeAction]:
        """The searches, in the header of a repro; the logs that tell more, at a finding."""
        if snapshot.path is None:
            return
        if snapshot.index.between(0, len(FIRST_LINE)) == FIRST_LINE and params.range.start.line < HEADER_LINES:
            yield command_action("Bisect this repro", BISECT, [snapshot.uri])
            if history_file(Path(snapshot.path)).is_file():
                yield command_action("Bisect this repro again and compare with the last result", VERIFY, [snapshot.uri])
            yield command_action("Minify this repro", MINIFY, [snapshot.uri])
        for finding in self._server.results.findings(file_key(snapshot.path)):
            place = to_range(finding.place, snapshot.index, self._server.editor.encoding)
            if place.start.line <= params.range.start.line <= place.end.line:
                logs = log_runs(finding.kind, finding.code, finding.stage)[0]
                (name, value), *_ = logs.environment
                yield command_action(f"Show the command to run with {name}={value}", LOGS, [snapshot.uri])
                return

    def diagnostics(self, snapshot: Snapshot) -> list[types.Diagnostic]:
        """The verdicts of this session, at their lines as long as those have not changed."""
        if snapshot.path is None:
            return []
        key = file_key(snapshot.path)
        return [
            to_diagnostic(finding, self._server.sources, self._server.editor)
            for finding in self._findings(snapshot)
            if file_key(finding.place.file) == key
        ]

    def _findings(self, snapshot: Snapshot) -> Iterator[Finding]:
        def line_of(file: str, line: int) -> str:
            index = self._server.sources.index(file)
            return index.line(line - 1) if index is not None else ""

        for repro, result in self._verdicts.items():
            yield from verdict_findings(result, line_of, self._store.of(repro))

    async def _search(self, work: Callable[[Path, RunProgress], Awaitable[Any]], name: str, uri: str | None) -> Any:
        """Run one search of a repro. A second one for the same file is refused."""
        repro = Path(path_argument(name, uri))
        if not await asyncio.to_thread(repro.is_file):
            raise JsonRpcInvalidParams(f"{name} needs the URI of a file.")
        if not self._server.may_run():
            return None
        if str(repro) in self._running:
            self._server.warn(f"Compile Lens: a search with {repro.name} is already running.")
            return None
        self._running.add(str(repro))
        try:
            return await self._progress.run(f"{repro.name}: starting", partial(work, repro), repro.as_uri())
        finally:
            self._running.discard(str(repro))

    # -- the searches

    async def _bisect(self, repro: Path, progress: RunProgress) -> dict[str, Any]:
        return await self.bisected(repro, progress, compare=False)

    async def _verify(self, repro: Path, progress: RunProgress) -> dict[str, Any]:
        return await self.bisected(repro, progress, compare=True)

    async def bisected(self, repro: Path, progress: RunProgress, compare: bool = False) -> dict[str, Any]:
        """Bisect a repro and show the verdict; with ``compare``, what changed since the last one, too."""
        before = recall(repro) if compare else None
        host = Host(self._runs.interpreter(str(repro)))
        ended: list[Step] = []

        def tell(step: Step | None, words: str) -> None:
            if step is not None:
                ended.append(step)
                progress.report(f"{repro.name}: step {len(ended)}: {words}: {_result(step)}")
                return
            so_far = f" (step {len(ended)}: {_result(ended[-1])})" if ended else ""
            progress.report(f"{repro.name}: step {len(ended) + 1}: {words}{so_far}")

        try:
            found = await bisect(host, repro, on_progress=tell)
        finally:
            await asyncio.shield(host.close())
        remember(found)
        lines = [*found.source, *(self._verdicts[str(repro)].source if str(repro) in self._verdicts else ())]
        self._verdicts[str(repro)] = found
        self._diagnostics.show({file_key(line.file) for line in lines})
        changes = () if before is None else tuple(differences(before, found)) or ("Nothing changed.",)
        text = document(found, self._store.of(str(repro)), markdown_link, changes)
        await self._pages.show(f"Verdict of {repro.name}", text, history_file(repro).with_suffix(".md"))
        self._announce(found)
        return {"status": found.status.value, "verdict": str(found.verdict or ""), "changes": list(changes)}

    def _announce(self, found: Bisection) -> None:
        """Show the verdict as a message, too: the document may be hidden."""
        kind = types.MessageType.Info if found.status is BisectionStatus.FOUND else types.MessageType.Warning
        self._server.say(f"Compile Lens: {found.sentence}", kind)

    async def minified(self, repro: Path, progress: RunProgress) -> dict[str, Any]:
        """Make a repro smaller and open what is left."""
        target = repro.with_name(f"{repro.stem}_min.py")
        smallest: list[Minified] = []
        host = Host(self._runs.interpreter(str(repro)))
        try:
            found = await minify(
                host,
                repro,
                target.with_suffix(".pt"),
                on_progress=lambda made: progress.report(f"{repro.name}: {made}"),
                on_smaller=smallest.append,
            )
        except asyncio.CancelledError:
            if smallest:  # each of them reproduced the problem
                await self._pages.open(target, smallest[-1].text)
            raise
        finally:
            await asyncio.shield(host.close())
        if found.text:
            await self._pages.open(target, found.text)
        self._server.say(f"Compile Lens: {found.sentence}")
        return {"file": str(target) if found.text else None, "verified": found.verified, "nodes": found.nodes}

    async def _logs(self, uri: str | None) -> list[dict[str, str]] | None:
        """Show the commands that run a file with the logs for its findings, and return them for an editor's terminal."""
        path = path_argument(LOGS, uri)
        findings = self._server.results.findings(file_key(path))
        if not findings:
            self._server.warn("Compile Lens: this file has no findings to suggest logs for.")
            return None
        try:
            command = command_of(self._runs.interpreter(path), Path(path), self._server.settings.run.arguments)
        except InterpreterError as error:
            self._server.warn(f"Compile Lens: {error}")
            return None
        runs = list(dict.fromkeys(run for f in findings for run in log_runs(f.kind, f.code, f.stage)))
        text = logs_document(f"Run {Path(path).name} again", runs, command)
        name = Path(path).name
        await self._pages.show(f"Logs of {name}", text, history_file(Path(path)).with_suffix(".logs.md"))
        return [{"title": run.title, "line": run.line(command), "shows": run.shows} for run in runs]


def _result(step: Step) -> str:
    return "the problem does not occur" if step.good else "the problem occurs"
