"""Divides what one run may take of memory among the runs that a server has at a time: together they take no more than one alone."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from fractions import Fraction

from compile_lens.workers.access import Access
from compile_lens.workers.job import Job


class MemoryShares:
    """A run in the sandbox takes its ``budget.share`` of the whole, and waits until that is left. Who waits longest goes first."""

    def __init__(self) -> None:
        # exact: what is left of rounding would keep a run waiting that needs all
        self._taken = Fraction(0)
        self._waiting: deque[tuple[Fraction, asyncio.Future[None]]] = deque()

    @asynccontextmanager
    async def taken_by(self, job: Job) -> AsyncIterator[None]:
        """Hold the share of ``job``; what runs as the user's shell would has no limit, and takes none."""
        if job.access is not Access.SANDBOXED:
            yield
            return
        share = Fraction(job.budget.share)
        if self._waiting or self._taken + share > 1:
            await self._wait(share)
        else:
            self._taken += share
        try:
            yield
        finally:
            self._give_back(share)

    async def _wait(self, share: Fraction) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((share, turn))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._give_back(share)  # it had been given, and nobody is there to take it
            else:
                with contextlib.suppress(ValueError):  # whoever ended just now has passed it over
                    self._waiting.remove((share, turn))
                self._give_back(Fraction(0))  # who waits behind may need less
            raise

    def _give_back(self, share: Fraction) -> None:
        self._taken -= share
        while self._waiting and self._taken + self._waiting[0][0] <= 1:
            waited, turn = self._waiting.popleft()
            if not turn.done():
                self._taken += waited
                turn.set_result(None)
