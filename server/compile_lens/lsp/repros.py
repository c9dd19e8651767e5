"""Repros on request: a code action on a finding or a region writes a script beside the file, runs it, and opens it."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from compile_lens.documents.documents import Snapshot, file_key
from compile_lens.lsp.convert import path_from_uri, to_diagnostic
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.lsp.progress import ProgressFeature
from compile_lens.lsp.runs import Runs
from compile_lens.pipeline.scheduler import Reason
from compile_lens.repro.expressions import CannotWrite
from compile_lens.repro.selection import Selection, default_name
from compile_lens.repro.write import Request, Written, write_repro
from compile_lens.workers.host import HostError
from compile_lens.workers.interpreter import InterpreterError

log = logging.getLogger(__name__)

WRITE_REPRO = "compileLens.writeRepro"
# a kind of its own: it is no fix, and an editor that is asked for fixes alone must not offer it
KIND = "repro"
REGION = "region:"


class Repros:
    """Offers repros, and writes the one that is asked for."""

    def __init__(self, server: CompileLensServer, runs: Runs, progress: ProgressFeature) -> None:
        self._server = server
        self._runs = runs
        self._progress = progress

    def actions(self, snapshot: Snapshot, params: types.CodeActionParams) -> Iterator[types.CodeAction]:
        """One action for each finding at a range, and for each region there."""
        if snapshot.path is None or not snapshot.is_python:
            return
        server = self._server
        first, last = params.range.start.line + 1, params.range.end.line + 1
        offered: set[str] = set()
        for finding in server.results.findings(file_key(snapshot.path)):
            place, about = finding.place, f"{finding.code}@{finding.place.line}"
            if place.end_line < first or place.line > last or not finding.kind.row.repro or about in offered:
                continue
            offered.add(about)
            diagnostic = to_diagnostic(finding, server.sources, server.client)
            yield _action(f"Write a repro for {finding.code}", snapshot.uri, about, [diagnostic])
        for region in self._runs.regions(snapshot):
            if region.line <= last and first <= region.end_line:
                yield _action(f"Write a repro of {region.name}", snapshot.uri, f"{REGION}{region.name}")

    async def write(self, uri: str | None, about: str | None) -> dict[str, Any] | None:
        """Write the repro of ``CODE@LINE``, of ``region:NAME``, or of what matters most in a file. None if there is none."""
        path = path_from_uri(uri) if uri is not None else None
        about = about or ""
        if uri is None or path is None:
            raise JsonRpcInvalidParams(f"{WRITE_REPRO} needs the URI of a file.")
        if not self._server.trusted:
            self._server.warn("Compile Lens does not run files in a workspace that is not trusted.")
            return None
        wanted = Selection(region=about[len(REGION) :]) if about.startswith(REGION) else Selection(finding=about)
        task = asyncio.ensure_future(self._write(uri, path, wanted))
        progress = self._progress.start(f"Repro of {wanted.title}", task.cancel)
        task.add_done_callback(lambda _: self._progress.finish(progress))
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.wait({task})
            raise
        if task.cancelled():  # by the button of the progress
            return None
        try:
            written = task.result()
        except (CannotWrite, HostError, InterpreterError, OSError) as problem:
            self._server.warn(f"Compile Lens: {problem}")
            return None
        return await self._show(written)

    async def _write(self, uri: str, path: str, wanted: Selection) -> Written:
        python = self._runs.interpreter(path)
        snapshot = self._server.documents.get(uri)
        job = self._runs.job(path, None) if snapshot is None else self._runs.job_of_last_run(uri, path, snapshot)
        async with self._server.hosts.turn(python, Reason.REQUESTED) as host:
            request = Request(job, wanted, free_path(Path(path), wanted))
            return await write_repro(host, request, lambda words: log.info("%s", words))  # type: ignore[arg-type]

    async def _show(self, written: Written) -> dict[str, Any]:
        """Open the script; where the editor cannot be asked to, say where it is."""
        sentence = written.sentence()
        self._server.window_show_message(
            types.ShowMessageParams(types.MessageType.Info, f"Compile Lens: {written.file.name}: {sentence}")
        )
        if self._server.client.shows_documents:
            try:
                params = types.ShowDocumentParams(written.file.as_uri(), take_focus=True)
                await self._server.window_show_document_async(params)
            except JsonRpcException as refused:
                log.info("The editor does not open %s: %s", written.file, refused)
        return {"uri": written.file.as_uri(), "reproduces": written.reproduces, "sentence": sentence}


def free_path(file: Path, wanted: Selection) -> Path:
    """A name beside ``file`` that nothing has yet."""
    first = file.with_name(default_name(wanted, file))
    candidates = itertools.chain([first], (first.with_stem(f"{first.stem}_{n}") for n in itertools.count(2)))
    return next(path for path in candidates if not path.exists())


def _action(title: str, uri: str, about: str, diagnostics: list[types.Diagnostic] | None = None) -> types.CodeAction:
    command = types.Command(title=title, command=WRITE_REPRO, arguments=[uri, about])
    return types.CodeAction(title=title, kind=KIND, diagnostics=diagnostics, command=command)
