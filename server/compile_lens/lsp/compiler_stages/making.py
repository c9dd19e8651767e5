"""Compiles a file for its stages: by a run of the file, as for a GPU that need not be there, or otherwise, for a comparison."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.documents.source_file import FileProblem, source_if_named, source_if_readable
from compile_lens.entries.entry_spec import BadEntry
from compile_lens.knowledge.devices import UnknownDeviceError, find_device
from compile_lens.lsp.compiler_stages.store import StageStore
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.lsp.progress import ProgressFeature, RunProgress
from compile_lens.lsp.run_requests import RunRequest, text_of
from compile_lens.lsp.runs import Runs
from compile_lens.pipeline.entry_choice import analyze_by_entries
from compile_lens.pipeline.gpu_preview import preview_job
from compile_lens.pipeline.revisions import Revision, RevisionError, job_at, revision
from compile_lens.pipeline.scheduler import Reason
from compile_lens.pipeline.stage_recorder import StageRecorder
from compile_lens.pipeline.stage_set import StageSet
from compile_lens.pipeline.torch_options import missing_option
from compile_lens.state.stage_folders import PREVIEW, RUN, UNFINISHED, VARIANT, StageFacts
from compile_lens.trace.files import TraceError
from compile_lens.workers.job import Job


class StageMaking:
    """What is made is kept in the store; why nothing could be made is said to the user."""

    def __init__(self, server: CompileLensServer, runs: Runs, progress: ProgressFeature, store: StageStore) -> None:
        self._server, self._runs, self._progress, self._store = server, runs, progress, store

    async def run(self, uri: str, path: str) -> StageSet | None:
        """Compile a file completely, and take the stages of its trace. Its findings are shown as those of any run."""
        if not self._server.may_run():
            return None
        text = await asyncio.to_thread(text_of, path, self._server.documents.get(uri))
        with self._folder() as folder:
            recorder = StageRecorder(self._server.analyze, Path(folder))
            outcome = await self._runs.analyze(uri, RunRequest(stages=recorder))
            return await self._take(recorder, outcome, StageFacts(RUN, path, "", Path(path).name, {path: text}))

    async def preview(self, uri: str, path: str, gpu: str) -> StageSet | None:
        """Compile a file as for ``gpu``. Nothing that is compiled runs, and the findings of the file stay as they are."""
        try:
            device = find_device(gpu)
        except UnknownDeviceError as problem:
            self._server.warn(f"Compile Lens: {problem}")
            return None
        name = Path(path).name
        text = await asyncio.to_thread(text_of, path, self._server.documents.get(uri))
        facts = StageFacts(PREVIEW, path, "", f"{name}, as for {device.title}", {path: text}, device.key)
        said = f"{name}: compiling as for {device.title}"
        assembly = self._server.settings.stages.assembly
        found = await self._beside(uri, facts, said, lambda job: preview_job(job, device, assembly))
        preview = found.opened.preview if found is not None else None
        if preview is not None and preview.triton_problem:
            self._server.warn(f"Compile Lens: {preview.triton_problem}")
        return found

    async def with_options(
        self, uri: str, path: str, variant: str, title: str, options: Mapping[str, str]
    ) -> StageSet | None:
        """Compile a file with options of the compiler, under their full names. The findings of the file stay as they are."""
        text = await asyncio.to_thread(text_of, path, self._server.documents.get(uri))
        facts = StageFacts(VARIANT, path, "", title, {path: text}, variant=variant)

        def problem(outcome: Outcome) -> str:
            missing = missing_option(options, outcome.notes)
            return f"this torch has no option `{missing}`." if missing is not None else ""

        return await self._beside(
            uri, facts, f"Compiling {title}", lambda job: replace(job, torch_options=dict(options)), problem_of=problem
        )

    async def at_revision(self, uri: str, path: str, variant: str, title: str, name: str) -> StageSet | None:
        """Compile a file as it was in the git revision ``name``, with the files around it. The findings of the file stay as they are."""
        try:
            with revision(name, Path(path)) as found:
                old = found.path_of(path)
                text = source_if_readable(str(old))
                if text is None or str(old) == path:
                    self._server.warn(f"Compile Lens: {Path(path).name} does not exist in {name}.")
                    return None
                moved = {str(found.folder): str(found.root)}
                facts = StageFacts(VARIANT, path, "", title, {path: text}, variant=variant, moved=moved)
                return await self._beside(uri, facts, f"Compiling {title}", lambda job: job, found)
        except RevisionError as problem:
            self._server.warn(f"Compile Lens: {problem}")
            return None

    async def _beside(
        self,
        uri: str,
        facts: StageFacts,
        said: str,
        change: Callable[[Job], Job],
        at: Revision | None = None,
        problem_of: Callable[[Outcome], str] = lambda _: "",
    ) -> StageSet | None:
        """Compile a file differently from its runs, and keep the result, unless ``problem_of`` says why it is not what was asked for."""
        if not self._server.may_run():
            return None
        with self._folder() as folder:
            recorder = StageRecorder(self._server.analyze, Path(folder))

            async def work(_: RunProgress) -> Outcome | None:
                return await self._compile(uri, facts.file, recorder, change, at)

            outcome = await self._progress.run(said, work, uri)
            if outcome is not None and outcome.status is Status.FAILED:
                self._server.warn(f"Compile Lens: {outcome.failure}")
            if outcome is not None and (problem := problem_of(outcome)):
                self._server.warn(f"Compile Lens: {problem}")
                return None
            return await self._take(recorder, outcome, facts, at)

    async def _compile(
        self, uri: str, path: str, recorder: StageRecorder, change: Callable[[Job], Job], at: Revision | None
    ) -> Outcome | None:
        """Raises HostError and InterpreterError."""
        server, request = self._server, RunRequest(stages=recorder)
        snapshot = server.documents.get(uri) if at is None else None
        text = snapshot.text if snapshot is not None else None
        try:
            choice = await self._runs.entries.choice(path, text, request.candidate, at)
        except (BadEntry, FileProblem) as problem:
            server.warn(f"Compile Lens: {problem}")
            return None
        job = self._runs.jobs.job(path, snapshot, request.access)
        job = (job_at(job, at) or job) if at is not None else job
        job = change(request.of(job, text or ""))
        async with server.hosts.turn(self._runs.interpreter(path), Reason.REQUESTED) as host:
            await host.start()
            return await analyze_by_entries(recorder, host, job, choice, None, server.settings.filters)

    def _folder(self) -> tempfile.TemporaryDirectory[str]:
        root = self._store.folders.root
        root.mkdir(parents=True, exist_ok=True)
        return tempfile.TemporaryDirectory(dir=root, prefix=UNFINISHED)

    async def _take(
        self, recorder: StageRecorder, outcome: Outcome | None, facts: StageFacts, at: Revision | None = None
    ) -> StageSet | None:
        """Keep the stages of what was recorded; ``facts`` lack its place."""

        def read(file: str) -> str | None:
            then = str(at.path_of(file)) if at is not None else file
            return source_if_named(then) if recorder.holds(then) else None

        trace = recorder.trace_of(outcome) if outcome is not None else None
        if trace is None:
            return None  # canceled, or the user has been told why
        folders = self._store.folders
        try:
            if facts.kind == RUN:
                await self._store.keep_earlier(facts.file)
            kept = await asyncio.to_thread(folders.take_trace, folders.key(facts.kind, facts.file, facts.how), trace)
            found = await self._store.add(facts.at(str(kept)), read)
        except (TraceError, OSError) as problem:
            self._server.warn(f"Compile Lens: {problem}")
            return None
        if not found.graphs and outcome is not None:
            settings = self._server.settings
            why = why_no_stages(outcome.status, Path(facts.file).name, settings.run.timeout, settings.budget.idle)
            self._server.warn(f"Compile Lens: {why}")
        return found


def why_no_stages(status: Status, name: str, limit_s: float, idle_s: float) -> str:
    """One sentence for a run of the file ``name`` that has left no graph."""
    if status is Status.TIMEOUT:
        return (
            f"stopped {name} after {limit_s:g} s (`compileLens.run.timeout`), before it compiled a graph. "
            "Allow more time, and open its stages again."
        )
    if status is Status.IDLE:
        return (
            f"stopped {name} after {idle_s:g} s without compilation (`compileLens.budget.idle`), before it compiled a graph. "
            "Allow more time, and open its stages again."
        )
    if status is Status.RAISED:
        return f"{name} raised an exception before it compiled a graph, so there are no stages."
    return f"the run of {name} compiled no graph, so there are no stages."
