"""Assembles the server from its features, and runs it from the first message until the last process has ended."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import sys
from collections.abc import Callable
from typing import Any

from lsprotocol import types

from compile_lens.documents.documents import file_key
from compile_lens.lsp import commands, document_sync, signature_help
from compile_lens.lsp.completion import Completions
from compile_lens.lsp.configuration import Configuration
from compile_lens.lsp.diagnostics import Diagnostics
from compile_lens.lsp.document_facts import DocumentFactsOf
from compile_lens.lsp.editor_capabilities import read_capabilities
from compile_lens.lsp.entries import Entries
from compile_lens.lsp.fix_checks import FixChecks
from compile_lens.lsp.fixes import Fixes
from compile_lens.lsp.hover import Hovers
from compile_lens.lsp.inlays import Inlays
from compile_lens.lsp.knowledge_diagnostics import KnowledgeDiagnostics
from compile_lens.lsp.knowledge_store import KnowledgeStore
from compile_lens.lsp.language_server import Analyze, AnyHost, CompileLensServer
from compile_lens.lsp.lenses import Lenses
from compile_lens.lsp.lifetime import EXIT_S, end_with, end_within, wait_for_exit
from compile_lens.lsp.navigation import Navigation
from compile_lens.lsp.permissions import Permissions
from compile_lens.lsp.predictions import Predictions
from compile_lens.lsp.progress import ProgressFeature
from compile_lens.lsp.pygls_workarounds.transport import PrivateStreams, read_messages
from compile_lens.lsp.region_actions import RegionActions
from compile_lens.lsp.repros import Repros
from compile_lens.lsp.runs import Runs
from compile_lens.lsp.sandbox_actions import SandboxActions
from compile_lens.lsp.searches import Searches
from compile_lens.lsp.status import StatusReporter
from compile_lens.pipeline.analyze import analyze
from compile_lens.shown_text import visible
from compile_lens.state.consent import ConsentStore
from compile_lens.workers.host import Host

log = logging.getLogger(__name__)


def create_server(
    make_host: Callable[[str], AnyHost] = Host, analyze: Analyze = analyze, consent: ConsentStore | None = None
) -> CompileLensServer:
    """A server with all its features, not connected yet."""
    server = CompileLensServer(make_host, analyze, consent or ConsentStore.of_user())
    diagnostics = Diagnostics(server)
    status = StatusReporter(server)
    facts = DocumentFactsOf(server, status)
    entries = Entries(server, facts)
    progress = ProgressFeature(server)
    permissions = Permissions(server)
    runs = Runs(server, permissions, diagnostics, progress, status, entries, facts)
    configuration = Configuration(server, runs)
    store = _offer_knowledge(server, permissions, diagnostics, progress, facts)
    predictions = Predictions(server, diagnostics, store.torch_of)
    diagnostics.without_run.append(predictions.diagnostics)
    runs.on_end(predictions.on_run_end)
    configuration.on_change(predictions.predict_all)
    Hovers(server, runs, store, predictions, facts)
    Lenses(server, runs, facts)
    Inlays(server, runs, facts)
    server.code_actions.add(entries.actions)
    server.code_actions.add(Fixes(server, FixChecks(server, runs).effects, facts).actions)
    server.code_actions.add(RegionActions(server, runs).actions)
    server.code_actions.add(runs.permissions.gpu_actions)
    document_sync.register(server, runs, diagnostics, predictions, facts, status)
    searches = Searches(server, runs, progress, store, diagnostics)
    diagnostics.without_run.append(searches.diagnostics)
    server.code_actions.add(searches.actions)
    repros = Repros(server, runs, progress)
    server.code_actions.add(repros.actions)
    sandbox = SandboxActions(server)
    server.code_actions.add(sandbox.actions)
    commands.register(server, runs, repros, sandbox, searches.commands())

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        encoding = server.workspace.position_encoding or types.PositionEncodingKind.Utf16
        server.editor = read_capabilities(params.capabilities, getattr(encoding, "value", encoding))
        server.documents.encoding = server.editor.encoding
        configuration.on_initialize(params.initialization_options)
        if server.editor.pulls_diagnostics:
            diagnostics.register_pull()
        if params.process_id is not None:
            server.background.start(_end_with(server, params.process_id))
            end_with(params.process_id)

    @server.feature(types.INITIALIZED)
    async def initialized(_: types.InitializedParams) -> None:
        runs.show_idle()
        await configuration.on_initialized()
        store.of(None)  # reads the tables before the first hover

    @server.feature(types.SHUTDOWN)
    async def shutdown(_: Any) -> None:
        predictions.close()
        await server.close()

    @server.feature(types.EXIT)
    def exit_(_: Any) -> None:
        server.stopped.set()

    return server


def _offer_knowledge(
    server: CompileLensServer,
    permissions: Permissions,
    diagnostics: Diagnostics,
    progress: ProgressFeature,
    facts: DocumentFactsOf,
) -> KnowledgeStore:
    """Everything about names of torch but hovers, which findings and regions share."""

    def show_again() -> None:
        paths = [snapshot.path for snapshot in server.documents.all() if snapshot.path is not None]
        diagnostics.show({file_key(path) for path in paths})

    store = KnowledgeStore(server, permissions.of, progress, show_again)
    unknown_names = KnowledgeDiagnostics(
        server, store, facts, lambda snapshot: diagnostics.show({file_key(snapshot.path or "")})
    )
    diagnostics.without_run.append(unknown_names.of)
    server.code_actions.add(unknown_names.actions)
    Completions(server, store, facts)
    Navigation(server, store, facts)
    signature_help.register(server, store, facts)
    return store


def serve(tcp: tuple[str, int] | None = None, server: CompileLensServer | None = None) -> int:
    """Serve one editor over standard input and output, or over the first connection to ``tcp`` (host, port).

    Returns the exit code once the editor sends ``exit`` or ends: 0 after a proper shutdown, else 1.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_VisibleFormatter("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    logging.getLogger("pygls").setLevel(
        logging.CRITICAL
    )  # it logs whole messages, and errors that are logged here, too
    return asyncio.run(_serve(server or create_server(), tcp))


class _VisibleFormatter(logging.Formatter):
    """Messages quote what programs say, and an editor may show the log in a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record))


async def _serve(server: CompileLensServer, tcp: tuple[str, int] | None) -> int:
    if sys.platform != "win32":
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, server.stopped.set)
    if tcp is None:
        streams = PrivateStreams(server.stopped.set, lambda: end_within(EXIT_S + 1))
        server.protocol.set_writer(streams)
        await _converse(server, streams.reader())
    else:
        await _serve_first_connection(server, tcp)
    code = 0 if server.protocol.was_shut_down else 1
    end_within(EXIT_S, code)
    await server.close()
    return code


async def _serve_first_connection(server: CompileLensServer, address: tuple[str, int]) -> None:
    connected: asyncio.Future[tuple[asyncio.StreamReader, asyncio.StreamWriter]]
    connected = asyncio.get_running_loop().create_future()

    def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if connected.done():
            writer.close()
        else:
            connected.set_result((reader, writer))

    async with await asyncio.start_server(connect, *address) as listener:
        host, port = listener.sockets[0].getsockname()[:2]
        log.info("Listening on %s:%s", host, port)
        reader, writer = await connected
        server.protocol.set_writer(writer)
        await _converse(server, reader)
        writer.close()


async def _converse(server: CompileLensServer, reader: asyncio.StreamReader) -> None:
    """Handle messages until the stream ends or ``stopped`` is set."""
    reading = asyncio.create_task(read_messages(reader, server.protocol.receive, server.protocol.refuse_large))
    stopping = asyncio.create_task(server.stopped.wait())
    await asyncio.wait({reading, stopping}, return_when=asyncio.FIRST_COMPLETED)
    for task in (reading, stopping):
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _end_with(server: CompileLensServer, pid: int) -> None:
    await wait_for_exit(pid)
    log.warning("The editor's process has ended.")
    server.stopped.set()
