"""Bisect, verify and minify a repro from an editor, and the logs to run a file with: commands with progress and cancel."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from compile_lens.analysis.finding import Finding
from compile_lens.documents.documents import Snapshot, file_key
from compile_lens.lsp.convert import path_from_uri, to_diagnostic, to_range
from compile_lens.lsp.diagnostics import Diagnostics
from compile_lens.lsp.knowledge_store import KnowledgeStore
from compile_lens.lsp.language_server import CompileLensServer
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
from compile_lens.workers.host import Host, HostError
from compile_lens.workers.interpreter import InterpreterError

BISECT = "compileLens.bisect"
VERIFY = "compileLens.verifyBisection"
MINIFY = "compileLens.minify"
LOGS = "compileLens.logs"
# where a repro's actions are offered: its header
HEADER_LINES = 12
Command = Callable[[str | None], Awaitable[Any]]


class Searches:
    """What runs a repro many times. A search has a process of its own, so that files can be analysed meanwhile."""

    def __init__(
        self,
        server: CompileLensServer,
        runs: Runs,
        progress: ProgressFeature,
        store: KnowledgeStore,
        diagnostics: Diagnostics,
    ) -> None:
        self._server, self._runs, self._progress, self._store = server, runs, progress, store
        self._diagnostics = diagnostics
        self._verdicts: dict[str, Bisection] = {}
        self._going: dict[str, asyncio.Task[None]] = {}

    def commands(self) -> dict[str, Command]:
        """The commands by name."""
        return {
            BISECT: partial(self._search, self._bisect, BISECT),
            VERIFY: partial(self._search, self._verify, VERIFY),
            MINIFY: partial(self._search, self._minify, MINIFY),
            LOGS: partial(self._logs),
        }

    def actions(self, snapshot: Snapshot, params: types.CodeActionParams) -> Iterator[types.CodeAction]:
        """In the header of a repro: what can be done with it. At a finding: the logs that show more of it."""
        if snapshot.path is None:
            return
        if snapshot.text.startswith(FIRST_LINE) and params.range.start.line < HEADER_LINES:
            yield _action("Bisect this repro", BISECT, snapshot.uri)
            if history_file(Path(snapshot.path)).is_file():
                yield _action("Bisect again, and compare with last time", VERIFY, snapshot.uri)
            yield _action("Make this repro smaller", MINIFY, snapshot.uri)
        for finding in self._server.results.findings(file_key(snapshot.path)):
            place = to_range(finding.place, snapshot.index, self._server.client.encoding)
            if place.start.line <= params.range.start.line <= place.end.line:
                logs = log_runs(finding.kind, finding.code, finding.stage)[0]
                (name, value), *_ = logs.environment
                yield _action(f"Show how to run with {name}={value}", LOGS, snapshot.uri)
                return

    def diagnostics(self, snapshot: Snapshot) -> list[types.Diagnostic]:
        """The verdicts of this session at the lines that they are about, while those are as they were."""
        if snapshot.path is None:
            return []
        key = file_key(snapshot.path)
        return [
            to_diagnostic(finding, self._server.sources, self._server.client)
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
        """Run one search of a repro; a second for the same file waits for nothing and is refused."""
        path = path_from_uri(uri) if uri is not None else None
        if uri is None or path is None or not await asyncio.to_thread(Path(path).is_file):
            raise JsonRpcInvalidParams(f"{name} needs the URI of a file.")
        if not self._server.trusted:
            self._server.warn("Compile Lens does not run files in a workspace that is not trusted.")
            return None
        if uri in self._going:
            self._server.warn(f"A search with {Path(path).name} is going on already.")
            return None
        progress = self._progress.start(f"{Path(path).name}: starting", lambda: self._cancel(uri))
        answers: list[Any] = []

        async def run() -> None:
            try:
                answers.append(await work(Path(path), progress))
            except (HostError, InterpreterError, OSError) as error:
                self._server.warn(f"Compile Lens: {error}")
            finally:
                self._going.pop(uri, None)
                self._progress.finish(progress)

        # a task of the server: it ends with the server, and not with the request alone
        task = self._going[uri] = self._server.background.start(run())
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            task.cancel()
            raise
        return answers[0] if answers else None

    def _cancel(self, uri: str) -> None:
        task = self._going.get(uri)
        if task is not None:
            task.cancel()

    # -- the searches

    async def _bisect(self, repro: Path, progress: RunProgress) -> dict[str, Any]:
        return await self._bisected(repro, progress, compare=False)

    async def _verify(self, repro: Path, progress: RunProgress) -> dict[str, Any]:
        return await self._bisected(repro, progress, compare=True)

    async def _bisected(self, repro: Path, progress: RunProgress, compare: bool) -> dict[str, Any]:
        before = recall(repro) if compare else None
        host = Host(self._runs.interpreter(str(repro)))

        def tell(step: Step | None, words: str) -> None:
            if step is None:
                progress.report(f"{repro.name}: {words}")

        try:
            found = await bisect(host, repro, on_progress=tell)
        finally:
            await asyncio.shield(host.close())
        remember(found)
        lines = [*found.source, *(self._verdicts[str(repro)].source if str(repro) in self._verdicts else ())]
        self._verdicts[str(repro)] = found
        self._diagnostics.show({file_key(line.file) for line in lines})
        changes = () if before is None else tuple(differences(before, found)) or ("Nothing has changed.",)
        text = document(found, self._store.of(str(repro)), markdown_link, changes)
        await self._show(history_file(repro).with_suffix(".md"), text)
        self._mark(found)
        return {"status": found.status.value, "verdict": str(found.verdict or ""), "changes": list(changes)}

    def _mark(self, found: Bisection) -> None:
        """Say it in a sentence, too: the document may be behind other windows."""
        kind = types.MessageType.Info if found.status is BisectionStatus.FOUND else types.MessageType.Warning
        self._server.window_show_message(types.ShowMessageParams(kind, f"Compile Lens: {found.sentence}"))

    async def _minify(self, repro: Path, progress: RunProgress) -> dict[str, Any]:
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
            if smallest:  # each was run and had the problem
                await self._show(target, smallest[-1].text)
            raise
        finally:
            await asyncio.shield(host.close())
        if found.text:
            await self._show(target, found.text)
        self._server.window_show_message(
            types.ShowMessageParams(types.MessageType.Info, f"Compile Lens: {found.sentence}")
        )
        return {"file": str(target) if found.text else None, "verified": found.verified, "nodes": found.nodes}

    async def _logs(self, uri: str | None) -> list[dict[str, str]] | None:
        """Show the lines to run a file with, for each kind of its findings; an editor with a terminal gets them as an answer."""
        path = path_from_uri(uri) if uri is not None else None
        if path is None:
            raise JsonRpcInvalidParams(f"{LOGS} needs the URI of a file.")
        findings = self._server.results.findings(file_key(path))
        if not findings:
            self._server.warn("Nothing was found in this file, so no logs fit better than others.")
            return None
        try:
            command = command_of(self._runs.interpreter(path), Path(path), self._server.settings.run.arguments)
        except InterpreterError as error:
            self._server.warn(f"Compile Lens: {error}")
            return None
        runs = list(dict.fromkeys(run for f in findings for run in log_runs(f.kind, f.code, f.stage)))
        text = logs_document(f"Run {Path(path).name} again", runs, command)
        await self._show(history_file(Path(path)).with_suffix(".logs.md"), text)
        return [{"title": run.title, "line": run.line(command), "shows": run.shows} for run in runs]

    async def _show(self, file: Path, text: str) -> None:
        """Write a document and ask the editor to open it; one that cannot is told where it is."""
        await asyncio.to_thread(_write, file, text)
        try:
            shown = await self._server.window_show_document_async(
                types.ShowDocumentParams(file.as_uri(), take_focus=True)
            )
        except JsonRpcException:
            shown = None
        if shown is None or not shown.success:
            self._server.window_show_message(
                types.ShowMessageParams(types.MessageType.Info, f"Compile Lens wrote {file}.")
            )


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def _action(title: str, command: str, uri: str) -> types.CodeAction:
    return types.CodeAction(
        # no kind: it is no fix, and comes with none where fixes alone are wanted
        title,
        command=types.Command(title, command, arguments=[uri]),
    )
