"""Asks the editor to request lenses, hints or diagnostics again once they have changed."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from pygls.exceptions import JsonRpcException

from compile_lens.lsp.language_server import CompileLensServer

# an editor that does not answer is asked again after this long
ANSWER_S = 5.0


class Refresh:
    """One kind of refresh. While the editor answers one, any number of further requests become one more."""

    def __init__(self, server: CompileLensServer, send: Callable[[], Awaitable[None]], delay_s: float = 0.05) -> None:
        """``delay_s``: changes come in bursts, and one refresh is sent for those within this time."""
        self._server = server
        self._send = send
        self._delay_s = delay_s
        self._is_needed = False
        self._is_running = False

    def request(self) -> None:
        """What the editor shows may be out of date."""
        self._is_needed = True
        if not self._is_running and not self._server.stopped.is_set():
            self._is_running = True
            self._server.background.start(self._run())

    async def _run(self) -> None:
        try:
            while self._is_needed:
                await asyncio.sleep(self._delay_s)
                self._is_needed = False
                # an editor that refuses or does not answer keeps what it has until it asks by itself
                with contextlib.suppress(JsonRpcException, asyncio.TimeoutError):
                    await asyncio.wait_for(self._send(), ANSWER_S)
        finally:
            self._is_running = False
