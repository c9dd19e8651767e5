"""Work-done progress of runs, with a button that cancels the run."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from compile_lens.lsp.language_server import CompileLensServer

TITLE = "Compile Lens"


class RunProgress:
    """The progress of one run. It begins once the editor has made its token; until then reports are kept back."""

    def __init__(self, token: str, send: Callable[[object], None], message: str) -> None:
        self.token = token
        self._send = send
        self._message = message
        self._begun = False
        self.ended = False

    def begin(self) -> None:
        """The editor is ready."""
        if not self.ended:
            self._begun = True
            self._send(types.WorkDoneProgressBegin(TITLE, cancellable=True, message=self._message))

    def report(self, message: str) -> None:
        """Say what goes on."""
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
    """Makes the progress of runs, and hears the editor's cancel button."""

    def __init__(self, server: CompileLensServer) -> None:
        self._server = server
        self._numbers = itertools.count(1)
        self._cancels: dict[str | int, Callable[[], object]] = {}
        server.on(types.WINDOW_WORK_DONE_PROGRESS_CANCEL, self._on_cancel)

    def start(self, message: str, cancel: Callable[[], object]) -> RunProgress:
        """The progress of a run that begins. ``cancel`` ends the run."""
        token = f"compile-lens-{next(self._numbers)}"

        def send(value: object) -> None:
            self._server.progress(types.ProgressParams(token, value))

        progress = RunProgress(token, send, message)
        if self._server.client.progress:
            self._cancels[token] = cancel
            self._server.background.start(self._create(token, progress))
        return progress

    def finish(self, progress: RunProgress) -> None:
        """The run is over, however it ended."""
        self._cancels.pop(progress.token, None)
        progress.end()

    async def _create(self, token: str, progress: RunProgress) -> None:
        try:
            await self._server.window_work_done_progress_create_async(types.WorkDoneProgressCreateParams(token))
        except JsonRpcException:
            return  # the editor refused: the run goes on without
        progress.begin()

    def _on_cancel(self, params: types.WorkDoneProgressCancelParams) -> None:
        if isinstance(params.token, (str, int)) and params.token in self._cancels:
            self._cancels[params.token]()
