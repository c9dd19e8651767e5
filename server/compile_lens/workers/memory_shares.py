"""Divides what one run may take of memory among the runs that a server has at a time: together they take no more than one alone."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from compile_lens.workers.access import Access
from compile_lens.workers.job import Job


class MemoryShares:
    """A run in the sandbox takes its ``budget.share`` of the whole, and waits until that is left. Who waits longest goes first."""

    def __init__(self) -> None:
        self._taken = 0.0
        self._waiting: deque[tuple[float, asyncio.Future[None]]] = deque()

    @asynccontextmanager
    async def taken_by(self, job: Job) -> AsyncIterator[None]:
        """Hold the share of ``job``; what runs as the user's shell would has no limit, and takes none."""
        if job.access is not Access.SANDBOXED:
            yield
            return
        share = job.budget.share
        if self._waiting or self._taken + share > 1.0:
            await self._wait(share)
        else:
            self._taken += share
        try:
            yield
        finally:
            self._give_back(share)

    async def _wait(self, share: float) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((share, turn))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._give_back(share)  # it had been given, and nobody is there to take it
            else:
                self._waiting.remove((share, turn))
                self._give_back(0.0)  # who waits behind may need less
            raise

    def _give_back(self, share: float) -> None:
        self._taken -= share
        while self._waiting and self._taken + self._waiting[0][0] <= 1.0:
            waited, turn = self._waiting.popleft()
            if not turn.done():
                self._taken += waited
                turn.set_result(None)
