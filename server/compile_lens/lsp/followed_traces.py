"""Follows the traces that a running job writes: its findings appear while it trains, and a recompile storm is told while it happens."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

from compile_lens.agent.runtime.left_folders import remove_folder
from compile_lens.analysis.outcome import Outcome
from compile_lens.lsp.convert import path_argument
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.lsp.progress import ProgressFeature, summary_of
from compile_lens.lsp.traces import Traces, as_settings_want
from compile_lens.pipeline.live_run import LiveRun, News
from compile_lens.temporary_folders import new_folder
from compile_lens.workers.interpreter import InterpreterError

FOLLOW = "compileLens.followTraces"
STOP = "compileLens.stopFollowingTraces"
RUN = "compileLens.runAndFollow"
POLL_S = 0.5


class FollowedTraces:
    """The folders that are followed. What their jobs told stays after the end of following, until the traces are closed."""

    def __init__(
        self, server: CompileLensServer, traces: Traces, progress: ProgressFeature, python_of: Callable[[str], str]
    ) -> None:
        self._server = server
        self._python_of = python_of
        self._own_folders: list[Path] = []
        server.on_close.append(self._delete_own_folders)
        self._traces = traces
        self._progress = progress
        self._tasks: dict[str, asyncio.Task[None]] = {}
        traces.on_closed.append(self._stop_all)

    def commands(self) -> dict[str, Callable[[str | None], Awaitable[Any]]]:
        """The commands by name."""
        return {FOLLOW: self._follow, STOP: self._stop, RUN: self._run}

    async def _follow(self, uri: str | None) -> bool:
        """Follow the folder at ``uri``, which need not exist yet. Returns whether it was not followed already."""
        folder = Path(path_argument(FOLLOW, uri))
        if await asyncio.to_thread(folder.is_file):
            self._server.warn(
                f"Compile Lens: {folder} is a file; choose the folder that the job writes its traces to (`TORCH_TRACE`)."
            )
            return False
        return str(uri) not in self._tasks and self._start(str(uri), folder, folder.name)

    def _start(self, uri: str, folder: Path, label: str) -> bool:
        settings = self._server.settings
        near = tuple(map(str, self._server.folders()))
        maps = tuple(settings.traces.map.items())
        live = LiveRun(folder, name=label, maps=maps, just_my_code=settings.just_my_code, near=near)
        task = self._server.background.start(self._keep_reading(uri, label, live))
        self._tasks[uri] = task
        task.add_done_callback(lambda _: self._tasks.pop(uri, None))
        return True

    async def _run(self, uri: str | None) -> dict[str, Any] | None:
        """Answers how the editor runs the file at ``uri``, not sandboxed, in a terminal of its own; its traces are followed from now on.

        The editor ends with ``compileLens.stopFollowingTraces``. None if the file may not run, which is said.
        """
        file = Path(path_argument(RUN, uri))
        if not self._server.may_run():
            return None
        try:
            python = self._python_of(str(file))
        except InterpreterError as problem:
            self._server.warn(f"Compile Lens: {problem}")
            return None
        folder = Path(new_folder())
        self._own_folders.append(folder)
        self._start(folder.as_uri(), folder, file.name)
        return {
            "command": [python, str(file)],
            "cwd": str(self._server.root_of(str(file))),
            "environment": {"TORCH_TRACE": str(folder)},
            "folder": folder.as_uri(),
        }

    async def _delete_own_folders(self) -> None:
        for folder in self._own_folders:
            await asyncio.to_thread(remove_folder, str(folder))

    async def _stop(self, uri: str | None) -> bool:
        """Stop following the folder at ``uri``, or all folders. Returns whether any was followed."""
        chosen = [task for name, task in self._tasks.items() if uri in (None, name)]
        for task in chosen:
            task.cancel()
        return bool(chosen)

    def _stop_all(self) -> None:
        for task in self._tasks.values():
            task.cancel()

    async def _keep_reading(self, uri: str, label: str, live: LiveRun) -> None:
        task = asyncio.current_task()
        assert task is not None
        documents = self._server.documents
        progress = self._progress.start(f"following {label}", task.cancel)
        revision = live.revision
        try:
            while True:
                # what the findings are matched with is the text on disk, as it is now
                versions = documents.versions_on_disk()
                news = await asyncio.to_thread(live.poll)
                if live.revision != revision:
                    revision = live.revision
                    shown = await asyncio.to_thread(self._shown, live)
                    self._traces.publish(uri, shown, partial(documents.edits_to_file, versions=versions))
                    progress.report(f"following {label}: {', '.join(map(summary_of, shown))}")
                for one in news:
                    self._tell(one)
                await asyncio.sleep(POLL_S)
        finally:
            self._progress.finish(progress)

    def _shown(self, live: LiveRun) -> list[Outcome]:
        return [as_settings_want(outcome, self._server.settings) for outcome in live.shown()]

    def _tell(self, news: News) -> None:
        """A finding is shown where it is; a storm costs the job its time now, so that it is said."""
        if news.is_storm:
            place = news.finding.place
            hint = f" {news.finding.hints[0]}" if news.finding.hints else ""
            self._server.warn(f"Compile Lens: {Path(place.file).name}:{place.line}: {news.shown.message}{hint}")
