"""The server object: the state of one connection, which the features share."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInternalError
from pygls.lsp.server import LanguageServer

from compile_lens import __version__
from compile_lens.analysis.filters import Filters
from compile_lens.analysis.outcome import Outcome
from compile_lens.documents.documents import Documents
from compile_lens.documents.line_indexes import LineIndexes
from compile_lens.lsp.client import Client
from compile_lens.lsp.code_actions import OPTIONS, CodeActions
from compile_lens.lsp.convert import path_from_uri
from compile_lens.lsp.robust import RobustProtocol, tolerant_converter
from compile_lens.pipeline.host_pool import HostPool
from compile_lens.pipeline.results import Results
from compile_lens.pipeline.scheduler import BackgroundTasks, Scheduler
from compile_lens.settings.settings import Settings
from compile_lens.state.consent import ConsentStore
from compile_lens.workers.job import Job

log = logging.getLogger(__name__)


class AnyHost(Protocol):
    """What the server needs of ``workers.host.Host``."""

    @property
    def hello(self) -> object:
        """None while the agent is not ready."""

    async def start(self) -> object:
        """Start the agent; raises HostError."""

    async def close(self) -> None:
        """End the agent."""


Analyze = Callable[[Any, Job, Callable[[Outcome], None] | None, Filters], Awaitable[Outcome]]


class CompileLensServer(LanguageServer):
    """One connection to one editor."""

    protocol: RobustProtocol

    def __init__(self, make_host: Callable[[str], AnyHost], analyze: Analyze, consent: ConsentStore) -> None:
        super().__init__(
            "compile-lens",
            __version__,
            text_document_sync_kind=types.TextDocumentSyncKind.Incremental,
            protocol_cls=RobustProtocol,
            converter_factory=tolerant_converter,
        )
        self.analyze = analyze
        self.consent = consent
        self.client = Client()
        self.settings = Settings()
        self.trusted = True
        # whether the editor told of trust at all, and the user of when files may run
        self.tells_trust = False
        self.run_is_set = False
        self.documents = Documents()
        self.sources = LineIndexes(self.documents)
        self.results = Results()
        self.scheduler = Scheduler()
        self.hosts: HostPool[AnyHost] = HostPool(make_host)
        self.background = BackgroundTasks(_log_error)
        self.stopped = asyncio.Event()
        self.code_actions = CodeActions(self.documents)
        self.on(types.TEXT_DOCUMENT_CODE_ACTION, self.code_actions.answer, OPTIONS)

    def on(self, method: str, handler: Callable[[Any], Any], options: object = None) -> None:
        """Let ``handler`` take the messages of ``method``. pygls marks what it is given, which a bound method forbids."""
        self.feature(method, options)(partial(handler))

    def folders(self) -> list[Path]:
        """The workspace's folders on disk."""
        workspace = self.workspace
        found = [path_from_uri(folder.uri) for folder in workspace.folders.values()]
        if not found and workspace.root_uri is not None:
            found = [path_from_uri(workspace.root_uri)]
        return [Path(path) for path in found if path is not None]

    def root_of(self, path: str) -> Path:
        """The deepest workspace folder that holds ``path``, or the folder that it is in."""
        holding = [folder for folder in self.folders() if Path(path).is_relative_to(folder)]
        return max(holding, key=lambda folder: len(folder.parts), default=Path(path).parent)

    def warn(self, sentence: str) -> None:
        """Show one sentence to the user: about something that the user can change, never about a bug of ours."""
        self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, sentence))

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log what went wrong; pygls would show it to the user. A request that was wrong is no bug of ours."""
        if isinstance(error, JsonRpcException) and not isinstance(error, JsonRpcInternalError):
            log.warning("A request was refused: %s", error)
            return
        data = getattr(error, "data", None)
        stack = data.get("traceback", ()) if isinstance(data, dict) else ()
        log.error("%s\n%s", error, "".join(stack))

    async def close(self) -> None:
        """End all work and every process that was started."""
        await self.scheduler.close()
        await asyncio.gather(self.background.close(), self.hosts.close())


def _log_error(error: BaseException) -> None:
    log.error("A background task failed", exc_info=error)
