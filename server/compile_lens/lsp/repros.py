"""Writes a repro of a finding or region beside the file, runs it, and opens it; offered as code actions."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from compile_lens.documents.documents import Snapshot, file_key
from compile_lens.lsp.code_actions import command_action
from compile_lens.lsp.convert import path_argument, to_diagnostic
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.lsp.progress import ProgressFeature
from compile_lens.lsp.runs import Runs
from compile_lens.pipeline.scheduler import Reason
from compile_lens.repro.selection import Selection, default_name
from compile_lens.repro.write import Request, Written, write_repro

log = logging.getLogger(__name__)

WRITE_REPRO = "compileLens.writeRepro"
# a kind of its own, so that an editor does not offer it where only fixes are wanted
KIND = "repro"
REGION = "region:"


class Repros:
    """Offers repros, and writes them."""

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
            diagnostic = to_diagnostic(finding, server.sources, server.editor)
            title = f"Write a repro for {finding.code}"
            yield command_action(title, WRITE_REPRO, [snapshot.uri, about], KIND, [diagnostic])
        for region in self._runs.regions(snapshot):
            if region.line <= last and first <= region.end_line:
                title, about = f"Write a repro of `{region.name}`", f"{REGION}{region.name}"
                yield command_action(title, WRITE_REPRO, [snapshot.uri, about], KIND)

    async def write(self, uri: str | None, about: str | None) -> dict[str, Any] | None:
        """Write the repro of ``CODE@LINE``, of ``region:NAME``, or by default of the worst finding. None if there is none."""
        path, about = path_argument(WRITE_REPRO, uri), about or ""
        if not self._server.may_run():
            return None
        wanted = Selection(region=about[len(REGION) :]) if about.startswith(REGION) else Selection(finding=about)
        written = await self._progress.run(f"Repro of {wanted.title}", lambda _: self._write(str(uri), path, wanted))
        return await self._show(written) if written is not None else None

    async def _write(self, uri: str, path: str, wanted: Selection) -> Written:
        python = self._runs.interpreter(path)
        snapshot = self._server.documents.get(uri)
        job = self._runs.job(path, None) if snapshot is None else self._runs.job_of_last_run(uri, path, snapshot)
        async with self._server.hosts.turn(python, Reason.REQUESTED) as host:
            request = Request(job, wanted, free_path(Path(path), wanted))
            return await write_repro(host, request, lambda words: log.info("%s", words))  # type: ignore[arg-type]

    async def _show(self, written: Written) -> dict[str, Any]:
        """Open the script if the editor can, and say what it does."""
        sentence = written.sentence()
        self._server.say(f"Compile Lens: {written.file.name}: {sentence}")
        if self._server.editor.shows_documents:
            try:
                params = types.ShowDocumentParams(written.file.as_uri(), take_focus=True)
                await self._server.window_show_document_async(params)
            except JsonRpcException as refused:
                log.info("The editor did not open %s: %s", written.file, refused)
        return {"uri": written.file.as_uri(), "reproduces": written.reproduces, "sentence": sentence}


def free_path(file: Path, wanted: Selection) -> Path:
    """A path beside ``file`` that does not exist yet."""
    first = file.with_name(default_name(wanted, file))
    candidates = itertools.chain([first], (first.with_stem(f"{first.stem}_{n}") for n in itertools.count(2)))
    return next(path for path in candidates if not path.exists())
