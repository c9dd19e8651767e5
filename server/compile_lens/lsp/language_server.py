"""The server object: the state of one connection, shared by the features."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInternalError
from pygls.lsp.server import LanguageServer

from compile_lens import __version__
from compile_lens.lsp.editor_capabilities import EditorCapabilities
from compile_lens.lsp.offered import NOTEBOOKS
from compile_lens.lsp.pygls_workarounds.protocol import HardenedProtocol, tolerant_converter
from compile_lens.shown_text import line_of_notice, visible_name

if TYPE_CHECKING:  # loaded with the features, after `initialize` is answered
    from compile_lens.analysis.filters import Filters
    from compile_lens.analysis.outcome import Outcome
    from compile_lens.documents.documents import Documents
    from compile_lens.documents.line_indexes import LineIndexes
    from compile_lens.lsp.code_actions import CodeActions
    from compile_lens.lsp.notebooks import Notebooks
    from compile_lens.pipeline.host_pool import HostPool
    from compile_lens.pipeline.results import Results
    from compile_lens.pipeline.scheduler import BackgroundTasks, Scheduler
    from compile_lens.settings.settings import Settings
    from compile_lens.state.consent import ConsentStore
    from compile_lens.workers.job import Job

    Analyze = Callable[[Any, Job, Callable[[Outcome], None] | None, Filters], Awaitable[Outcome]]

log = logging.getLogger(__name__)


class AnyHost(Protocol):
    """The part of ``workers.host.Host`` that the server uses, so that tests can replace it."""

    @property
    def hello(self) -> object:
        """None until the agent is ready."""

    async def start(self) -> object:
        """Start the agent; raises HostError."""

    async def close(self) -> None:
        """End the agent."""


class CompileLensServer(LanguageServer):
    """One connection to one editor.

    At first it only offers what it can do. ``load`` loads the features and gives it the rest of its state, once.
    """

    protocol: HardenedProtocol
    analyze: Analyze
    consent: ConsentStore
    settings: Settings
    documents: Documents
    notebooks: Notebooks
    sources: LineIndexes
    results: Results
    scheduler: Scheduler
    hosts: HostPool[AnyHost]
    background: BackgroundTasks
    code_actions: CodeActions
    initialized_with: types.InitializeParams

    def __init__(self, assemble: Callable[[CompileLensServer], None]) -> None:
        super().__init__(
            "compile-lens",
            __version__,
            text_document_sync_kind=types.TextDocumentSyncKind.Incremental,
            notebook_document_sync=NOTEBOOKS,
            protocol_cls=HardenedProtocol,
            converter_factory=tolerant_converter,
        )
        self.editor = EditorCapabilities()
        self.trusted = True
        # whether the editor reports workspace trust, and whether the user has set `run.enabled`
        self.reports_trust = False
        self.run_is_set = False
        self.stopped = asyncio.Event()
        # ends what a feature has started
        self.on_close: list[Callable[[], Awaitable[None]]] = []
        self.after_load: Callable[[], None] = lambda: None
        self._assemble = assemble
        self._loaded = False
        self._offered: set[str] = set()

    def offer(self, methods: Mapping[str, object], commands: tuple[str, ...] = ()) -> None:
        """Announce ``methods`` with their options, and ``commands``, before there is anything to answer them."""
        for method, options in methods.items():
            self.feature(method)(partial(_not_loaded))
            if options is not None:  # given to `feature`, they would be converted once to see whether that can be done
                self.protocol.fm.feature_options[method] = options
        for name in commands:
            self.command(name)(partial(_not_loaded))
        self._offered |= {*methods, *commands}

    def load(self) -> None:
        """Load the features, unless they are."""
        if not self._loaded:
            for name in self._offered:
                self.protocol.fm.features.pop(name, None)
                self.protocol.fm.commands.pop(name, None)
            self._assemble(self)
            self._loaded = True
            self.after_load()

    def on(self, method: str, handler: Callable[[Any], Any]) -> None:
        """Handle ``method`` with ``handler``, of cells of notebooks, too. pygls sets attributes on it, which a bound method refuses:
        hence ``partial``."""
        is_about_text = method.startswith("textDocument/")
        self.feature(method)(partial(self.notebooks.translated(handler) if is_about_text else handler))

    def folders(self) -> list[Path]:
        """The workspace folders on disk."""
        from compile_lens.lsp.convert import path_from_uri

        workspace = self.workspace
        found = [path_from_uri(folder.uri) for folder in workspace.folders.values()]
        if not found and workspace.root_uri is not None:
            found = [path_from_uri(workspace.root_uri)]
        return [Path(path) for path in found if path is not None]

    def root_of(self, path: str) -> Path:
        """The innermost workspace folder that contains ``path``, else the directory of ``path``."""
        file = Path(os.path.normpath(path))  # ``..`` may lead out of a folder that is named first
        containing = [folder for folder in self.folders() if file.is_relative_to(folder)]
        return max(containing, key=lambda folder: len(folder.parts), default=file.parent)

    def warn(self, sentence: str) -> None:
        """Show one sentence about something that the user can change. Our own bugs go to the log."""
        self.say(sentence, types.MessageType.Warning)

    def say(self, sentence: str, kind: types.MessageType = types.MessageType.Info) -> None:
        """Show one sentence, which may quote a program."""
        self.window_show_message(types.ShowMessageParams(kind, line_of_notice(sentence)))

    async def ask(self, sentence: str, answers: Iterable[str], unasked: str | None = None) -> str | None:
        """The answer that the user chooses, None for none; ``unasked`` where the editor cannot ask."""
        shown = {visible_name(title): title for title in answers}
        actions = [types.MessageActionItem(title) for title in shown]
        question = types.ShowMessageRequestParams(types.MessageType.Info, line_of_notice(sentence), actions)
        try:
            answer = await self.window_show_message_request_async(question)
        except JsonRpcException:
            return unasked
        return shown.get(answer.title) if answer is not None else None

    def may_run(self) -> bool:
        """Whether the workspace is trusted; says so to the user if it is not."""
        if not self.trusted:
            self.warn("Compile Lens does not run files in an untrusted workspace.")
        return self.trusted

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log an error, which pygls would show to the user. An invalid request is a warning, not a bug of ours."""
        if isinstance(error, JsonRpcException) and not isinstance(error, JsonRpcInternalError):
            log.warning("Refused a request: %s", error)
            return
        data = getattr(error, "data", None)
        stack = data.get("traceback", ()) if isinstance(data, dict) else ()
        log.error("%s\n%s", error, "".join(stack))

    async def close(self) -> None:
        """End all work and every process that the server started."""
        if not self._loaded:
            return
        await self.scheduler.close()
        await asyncio.gather(self.background.close(), self.hosts.close(), *(close() for close in self.on_close))


def _not_loaded(_: Any) -> None:
    """Stands for a handler until the features are loaded, which happens before any message but `initialize` is handled."""
    raise JsonRpcInternalError("The features are not loaded.")
