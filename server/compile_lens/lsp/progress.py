"""Work-done progress of runs and searches, with a cancel button."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from compile_lens.analysis.finding import Kind
from compile_lens.analysis.outcome import Outcome
from compile_lens.documents.source_file import FileProblem
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.repro.expressions import CannotWrite
from compile_lens.shown_text import label
from compile_lens.wording import counted
from compile_lens.workers.host import HostError
from compile_lens.workers.interpreter import InterpreterError

TITLE = "Compile Lens"
Result = TypeVar("Result")


class RunProgress:
    """The progress of one run. Nothing is sent before the editor has created its token."""

    def __init__(self, token: str, send: Callable[[object], None], message: str) -> None:
        self.token = token
        self._send = send
        self._message = label(message)
        self._begun = False
        self.ended = False

    def begin(self) -> None:
        """The editor has created the token."""
        if not self.ended:
            self._begun = True
            self._send(types.WorkDoneProgressBegin(TITLE, cancellable=True, message=self._message))

    def report(self, message: str) -> None:
        """Show ``message``."""
        message = label(message)
        if message == self._message or self.ended:
            return
        self._message = message
        if self._begun:
            self._send(types.WorkDoneProgressReport(cancellable=True, message=message))

    def end(self) -> None:
        """The run is over."""
        if self._begun and not self.ended:
            self._send(types.WorkDoneProgressEnd())
        self.ended = True


class ProgressFeature:
    """Shows progress, and handles the editor's cancel button."""

    def __init__(self, server: CompileLensServer) -> None:
        self._server = server
        self._numbers = itertools.count(1)
        self._cancels: dict[str | int, Callable[[], object]] = {}
        self._work: dict[asyncio.Task[None], str | None] = {}
        server.on(types.WINDOW_WORK_DONE_PROGRESS_CANCEL, self._on_cancel)

    def cancel_work(self, uri: str | None = None) -> bool:
        """Cancel what ``run`` does for a document, or all of it. Returns whether there was any."""
        chosen = [task for task, about in self._work.items() if uri is None or uri == about]
        for task in chosen:
            task.cancel()
        return bool(chosen)

    async def run(
        self, message: str, work: Callable[[RunProgress], Awaitable[Result]], uri: str | None = None
    ) -> Result | None:
        """Do ``work`` with progress, for the document ``uri``. None if it was canceled, or failed for a reason that the user is shown."""
        results: list[Result] = []

        async def run() -> None:
            try:
                results.append(await work(progress))
            except (CannotWrite, FileProblem, HostError, InterpreterError, OSError) as error:
                self._server.warn(f"Compile Lens: {error}")

        # a task of the server, so that it also ends with the server
        task = self._server.background.start(run())
        progress = self.start(message, task.cancel)
        self._work[task] = uri
        task.add_done_callback(self._work.pop)
        task.add_done_callback(lambda _: self.finish(progress))
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.wait({task})
            raise
        if not task.cancelled():
            task.result()  # raises what is a bug of ours
        return results[0] if results else None

    def start(self, message: str, cancel: Callable[[], object]) -> RunProgress:
        """Start showing progress; the cancel button calls ``cancel``."""
        token = f"compile-lens-{next(self._numbers)}"

        def send(value: object) -> None:
            self._server.progress(types.ProgressParams(token, value))

        progress = RunProgress(token, send, message)
        if self._server.editor.shows_progress:
            self._cancels[token] = cancel
            self._server.background.start(self._create(token, progress))
        return progress

    def finish(self, progress: RunProgress) -> None:
        """Stop showing progress."""
        self._cancels.pop(progress.token, None)
        progress.end()

    async def _create(self, token: str, progress: RunProgress) -> None:
        try:
            await self._server.window_work_done_progress_create_async(types.WorkDoneProgressCreateParams(token))
        except JsonRpcException:
            return  # the editor refused; the run continues without
        progress.begin()

    def _on_cancel(self, params: types.WorkDoneProgressCancelParams) -> None:
        if isinstance(params.token, (str, int)) and params.token in self._cancels:
            self._cancels[params.token]()


def summary_of(outcome: Outcome) -> str:
    """What a run has found so far, in a phrase."""
    counts = Counter(finding.kind for finding in outcome.findings)
    nouns = {Kind.GRAPH_BREAK: "graph break", Kind.RECOMPILE: "recompile"}
    return ", ".join(counted(counts[kind], noun) for kind, noun in nouns.items() if counts[kind]) or "running"
