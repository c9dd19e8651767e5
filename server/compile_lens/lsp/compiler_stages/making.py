"""Compiles a file for its stages: by a run of the file, or as for a GPU that need not be there."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.documents.source_file import FileProblem
from compile_lens.entries.entry_spec import BadEntry
from compile_lens.knowledge.devices import Device, UnknownDeviceError, find_device
from compile_lens.lsp.compiler_stages.store import StageStore
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.lsp.progress import ProgressFeature, RunProgress
from compile_lens.lsp.run_requests import RunRequest, text_of
from compile_lens.lsp.runs import Runs
from compile_lens.pipeline.entry_choice import analyze_by_entries
from compile_lens.pipeline.gpu_preview import preview_job
from compile_lens.pipeline.scheduler import Reason
from compile_lens.pipeline.stage_recorder import StageRecorder
from compile_lens.state.stage_folders import PREVIEW, RUN, UNFINISHED, StageFacts
from compile_lens.trace.files import TraceError


class StageMaking:
    """What is made is kept in the store; why nothing could be made is said to the user."""

    def __init__(self, server: CompileLensServer, runs: Runs, progress: ProgressFeature, store: StageStore) -> None:
        self._server, self._runs, self._progress, self._store = server, runs, progress, store

    async def run(self, uri: str, path: str) -> None:
        """Compile a file completely, and take the stages of its trace. Its findings are shown as those of any run."""
        if not self._server.may_run():
            return
        text = await asyncio.to_thread(text_of, path, self._server.documents.get(uri))
        with self._folder() as folder:
            recorder = StageRecorder(self._server.analyze, Path(folder))
            outcome = await self._runs.analyze(uri, RunRequest(stages=recorder))
            await self._take(recorder, outcome, StageFacts(RUN, path, "", Path(path).name, {path: text}))

    async def preview(self, uri: str, path: str, gpu: str) -> None:
        """Compile a file as for ``gpu``. Nothing that is compiled runs, and the findings of the file stay as they are."""
        if not self._server.may_run():
            return
        try:
            device = find_device(gpu)
        except UnknownDeviceError as problem:
            self._server.warn(f"Compile Lens: {problem}")
            return
        text = await asyncio.to_thread(text_of, path, self._server.documents.get(uri))
        name = Path(path).name
        facts = StageFacts(PREVIEW, path, "", f"{name}, as for {device.title}", {path: text}, device.key)
        with self._folder() as folder:
            recorder = StageRecorder(self._server.analyze, Path(folder))

            async def work(_: RunProgress) -> Outcome | None:
                return await self._as_for(device, uri, path, recorder)

            outcome = await self._progress.run(f"{name}: compiling as for {device.title}", work, uri)
            if outcome is not None and outcome.status is Status.FAILED:
                self._server.warn(f"Compile Lens: {outcome.failure}")
            await self._take(recorder, outcome, facts)

    async def _as_for(self, device: Device, uri: str, path: str, recorder: StageRecorder) -> Outcome | None:
        """Raises HostError and InterpreterError."""
        server, snapshot, request = self._server, self._server.documents.get(uri), RunRequest(stages=recorder)
        text = snapshot.text if snapshot is not None else None
        try:
            choice = await self._runs.entries.choice(path, text, request.candidate)
        except (BadEntry, FileProblem) as problem:
            server.warn(f"Compile Lens: {problem}")
            return None
        job = preview_job(request.of(self._runs.jobs.job(path, snapshot, request.access), text or ""), device)
        async with server.hosts.turn(self._runs.interpreter(path), Reason.REQUESTED) as host:
            await host.start()
            return await analyze_by_entries(recorder, host, job, choice, None, server.settings.filters)

    def _folder(self) -> tempfile.TemporaryDirectory[str]:
        root = self._store.folders.root
        root.mkdir(parents=True, exist_ok=True)
        return tempfile.TemporaryDirectory(dir=root, prefix=UNFINISHED)

    async def _take(self, recorder: StageRecorder, outcome: Outcome | None, facts: StageFacts) -> None:
        """Keep the stages of what was recorded; ``facts`` lack its place."""
        trace = recorder.trace_of(outcome) if outcome is not None else None
        if trace is None:
            return  # canceled, or the user has been told why
        folders = self._store.folders
        try:
            kept = await asyncio.to_thread(folders.take_trace, folders.key(facts.kind, facts.file, facts.gpu), trace)
            found = await self._store.add(facts.at(str(kept)))
        except (TraceError, OSError) as problem:
            self._server.warn(f"Compile Lens: {problem}")
            return
        if not found.graphs:
            name = Path(facts.file).name
            self._server.warn(f"Compile Lens: the run of {name} compiled no graph, so that there are no stages.")
