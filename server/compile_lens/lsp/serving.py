"""Runs the server, from the first message until the last process has ended.

Only what answers `initialize` is imported here. The features are loaded once it is answered, while the editor reads the answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import signal
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from compile_lens.lsp.editor_capabilities import read_capabilities
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.lsp.lifetime import EXIT_S, end_within
from compile_lens.lsp.offered import COMMANDS, METHODS, PULL
from compile_lens.lsp.pygls_workarounds.transport import PrivateStreams, read_messages
from compile_lens.shown_text import visible

if TYPE_CHECKING:
    from compile_lens.lsp.language_server import Analyze, AnyHost
    from compile_lens.state.consent import ConsentStore

log = logging.getLogger(__name__)
# how long a thread that reads a document keeps the interpreter from the event loop
SWITCH_S = 0.001


def create_server(
    make_host: Callable[[str], AnyHost] | None = None,
    analyze: Analyze | None = None,
    consent: ConsentStore | None = None,
) -> CompileLensServer:
    """A server that is not connected yet. What is not given is what a user gets."""

    def load(server: CompileLensServer) -> None:
        from compile_lens.lsp.server import assemble

        assemble(server, make_host, analyze, consent)

    server = CompileLensServer(load)
    server.offer(METHODS, COMMANDS)

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        encoding = server.workspace.position_encoding or types.PositionEncodingKind.Utf16
        server.editor = read_capabilities(params.capabilities, getattr(encoding, "value", encoding))
        server.initialized_with = params
        if server.editor.pulls_diagnostics:
            server.offer({types.TEXT_DOCUMENT_DIAGNOSTIC: PULL})
        asyncio.get_running_loop().call_soon(server.load)  # by then, the answer is sent

    @server.feature(types.EXIT)
    def exit_(_: Any) -> None:
        server.stopped.set()

    return server


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
    server = server or create_server()
    # what is loaded stays: looking through it for garbage takes a tenth of a second, in which nothing is answered
    server.after_load = gc.freeze
    sys.setswitchinterval(SWITCH_S)
    return asyncio.run(_serve(server, tcp))


class _VisibleFormatter(logging.Formatter):
    """Messages quote what programs say, and an editor may show the log in a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record))


async def _serve(server: CompileLensServer, tcp: tuple[str, int] | None) -> int:
    if sys.platform != "win32":
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
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
