"""Asking the editor to ask again, when what it was told is no longer so."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from pygls.exceptions import JsonRpcException

from compile_lens.lsp.language_server import CompileLensServer

# what is told comes in bursts; and an editor that does not answer is asked again after this long
TOGETHER_S = 0.05
ANSWER_S = 5.0


class Refresh:
    """One kind of refresh. However often it is wanted while the editor answers one, it is asked for once more."""

    def __init__(self, server: CompileLensServer, ask: Callable[[], Awaitable[None]]) -> None:
        self._server = server
        self._ask = ask
        self._is_wanted = False
        self._is_asking = False

    def want(self) -> None:
        """What the editor shows may be out of date."""
        self._is_wanted = True
        if not self._is_asking and not self._server.stopped.is_set():
            self._is_asking = True
            self._server.background.start(self._run())

    async def _run(self) -> None:
        try:
            while self._is_wanted:
                await asyncio.sleep(TOGETHER_S)
                self._is_wanted = False
                with contextlib.suppress(JsonRpcException, asyncio.TimeoutError):
                    await asyncio.wait_for(self._ask(), ANSWER_S)
        finally:
            self._is_asking = False
