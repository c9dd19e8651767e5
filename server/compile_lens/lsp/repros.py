"""Writes a repro of a finding or region where the user wants it, runs it, and opens it; offered as code actions."""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from compile_lens.analysis.finding import Finding
from compile_lens.documents.documents import Snapshot, file_key
from compile_lens.lsp.code_actions import command_action
from compile_lens.lsp.convert import path_argument, to_diagnostic
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.lsp.progress import ProgressFeature, RunProgress
from compile_lens.lsp.runs import Runs
from compile_lens.pipeline.scheduler import Reason
from compile_lens.repro.beside import script_text
from compile_lens.repro.history import history_file
from compile_lens.repro.selection import Selection, default_name
from compile_lens.repro.write import Request, Written, write_repro

log = logging.getLogger(__name__)

WRITE_REPRO = "compileLens.writeRepro"
# a kind of its own, so that an editor does not offer it where only fixes are wanted
KIND = "repro"
REGION = "region:"
# where a repro is written: beside the file, in a folder of the workspace, or in a private folder, for an untitled editor
BESIDE, FOLDER, UNTITLED = "beside", "repros", "untitled"


def reproducible_findings(
    server: CompileLensServer, path: str, at: types.Range
) -> Iterator[tuple[Finding, str, types.Diagnostic]]:
    """The findings of a file in a range that a repro can be written of, each with ``CODE@LINE`` and its diagnostic, once."""
    first, last = at.start.line + 1, at.end.line + 1
    offered: set[str] = set()
    for finding in server.results.findings(file_key(path)):
        place, about = finding.place, f"{finding.code}@{finding.place.line}"
        if place.end_line >= first and place.line <= last and finding.kind.row.repro and about not in offered:
            offered.add(about)
            yield finding, about, to_diagnostic(finding, server.sources, server.editor)


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
        for finding, about, diagnostic in reproducible_findings(self._server, snapshot.path, params.range):
            title = f"Write a repro for {finding.code}"
            yield command_action(title, WRITE_REPRO, [snapshot.uri, about], KIND, [diagnostic])
        first, last = params.range.start.line + 1, params.range.end.line + 1
        for region in self._runs.regions(snapshot):
            if region.line <= last and first <= region.end_line:
                title, about = f"Write a repro of `{region.name}`", f"{REGION}{region.name}"
                yield command_action(title, WRITE_REPRO, [snapshot.uri, about], KIND)

    async def write(self, uri: str | None, about: str | None, where: str | None = None) -> dict[str, Any] | None:
        """Write the repro of ``CODE@LINE``, of ``region:NAME``, or by default of the worst finding. None if there is none.

        ``where`` is ``BESIDE``, ``FOLDER`` or ``UNTITLED``; the user is asked without it, and nothing is written without an answer.
        """
        path, about = path_argument(WRITE_REPRO, uri), about or ""
        if not self._server.may_run():
            return None
        wanted = selection(about)
        folder = self._folder(where or await self._ask(path), path)
        if folder is None:
            return None
        if where != UNTITLED and folder.is_symlink() and folder != Path(path).parent:
            self._server.warn(f"Compile Lens: {folder} is a link, so no repro is written there.")
            return None

        async def work(progress: RunProgress) -> Written:
            return await self.written(str(uri), path, wanted, folder, progress)

        written = await self._progress.run(f"Writing a repro ({wanted.where})…", work, str(uri))
        return await self._show(written, where != UNTITLED) if written is not None else None

    async def _ask(self, path: str) -> str:
        """Ask where to write a repro; '' if the user does not say. In `repros` where the editor cannot ask."""
        in_folder = f"In the folder {FOLDER}"
        titles = {in_folder: FOLDER, f"Beside {Path(path).name}": BESIDE}
        answer = await self._server.ask("Where should the repro be written?", titles, unasked=in_folder)
        return titles.get(answer or "", "")

    def private_folder(self, path: str) -> Path:
        """Where repros are written that are not to be in the workspace."""
        return history_file(Path(path)).parent.with_name("untitled")

    def _folder(self, where: str, path: str) -> Path | None:
        folders = {
            FOLDER: self._server.root_of(path) / FOLDER,
            BESIDE: Path(path).parent,
            UNTITLED: self.private_folder(path),
        }
        return folders.get(where)

    async def written(self, uri: str, path: str, wanted: Selection, folder: Path, progress: RunProgress) -> Written:
        """Write a repro to ``folder`` and run it. Raises CannotWrite."""
        python = self._runs.interpreter(path)
        snapshot = self._server.documents.get(uri)
        job = self._runs.jobs.job(path, None) if snapshot is None else self._runs.jobs.of_last_run(uri, path, snapshot)
        async with self._server.hosts.turn(python, Reason.REQUESTED) as host:
            await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
            request = Request(job, wanted, free_path(folder / Path(path).name, wanted))

            def tell(words: str) -> None:
                log.info("%s", words)
                progress.report(f"Writing a repro ({wanted.where}): {words}")

            return await write_repro(host, request, tell)  # type: ignore[arg-type]

    async def _show(self, written: Written, opens: bool) -> dict[str, Any]:
        """Open the script if the editor can, and say what it does."""
        sentence = written.sentence()
        self._server.say(f"Compile Lens: {written.file.name}: {sentence}")
        if opens and self._server.editor.shows_documents:
            try:
                params = types.ShowDocumentParams(written.file.as_uri(), take_focus=True)
                await self._server.window_show_document_async(params)
            except JsonRpcException as refused:
                log.info("The editor did not open %s: %s", written.file, refused)
        text = await asyncio.to_thread(script_text, written.file)
        return {"uri": written.file.as_uri(), "reproduces": written.reproduces, "sentence": sentence, "text": text}


def free_path(file: Path, wanted: Selection) -> Path:
    """A path beside ``file`` that does not exist yet."""
    first = file.with_name(default_name(wanted, file))
    candidates = itertools.chain([first], (first.with_stem(f"{first.stem}_{n}") for n in itertools.count(2)))
    return next(path for path in candidates if not os.path.lexists(path))


def selection(about: str) -> Selection:
    """What ``CODE@LINE``, ``region:NAME`` or '' stands for."""
    return Selection(region=about[len(REGION) :]) if about.startswith(REGION) else Selection(finding=about)
