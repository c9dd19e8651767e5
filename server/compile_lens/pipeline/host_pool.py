"""Shares one host per interpreter, one run at a time, and backs off when its agents keep dying. Checks may take a second host."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from compile_lens.pipeline.scheduler import Reason

FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 60.0


class Closable(Protocol):
    """What the pool needs of a host."""

    async def close(self) -> None:
        """End the host's processes."""


H = TypeVar("H", bound=Closable)


@dataclass(slots=True)
class _Lane(Generic[H]):
    """The turns at one interpreter's host.

    The best reason goes first; among equals, the newest: it is the file being looked at.
    """

    host: H
    busy: bool = False
    waiting: list[tuple[Reason, int, asyncio.Future[None]]] = field(default_factory=list)
    failures: int = 0
    not_before: float = 0.0

    async def enter(self, reason: Reason, number: int) -> None:
        if not self.busy:
            self.busy = True
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self.waiting, (reason, -number, turn))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.leave()  # the turn had been given, and nobody is there to take it
            raise

    def leave(self) -> None:
        while self.waiting:
            turn = heapq.heappop(self.waiting)[2]
            if not turn.done():
                turn.set_result(None)
                return
        self.busy = False


class HostPool(Generic[H]):
    """Hosts by interpreter, made by ``make`` when they are first needed."""

    def __init__(self, make: Callable[[str], H], first_pause_s: float = FIRST_PAUSE_S) -> None:
        self._make = make
        self._first_pause_s = first_pause_s
        self._lanes: dict[str, _Lane[H]] = {}
        self._second: dict[str, _Lane[H]] = {}
        self._with_second: set[str] = set()
        self._numbers = itertools.count()

    def host(self, python: str) -> H:
        """The host of an interpreter, for starting it early."""
        return self._lane(python).host

    @asynccontextmanager
    async def turn(self, python: str, reason: Reason) -> AsyncIterator[H]:
        """Wait for the host of ``python`` to be free, and hold it.

        After failures a background run waits longer and longer.
        """
        lane = self._lane(python)
        await lane.enter(reason, next(self._numbers))
        try:
            pause = lane.not_before - asyncio.get_running_loop().time()
            if pause > 0 and reason is not Reason.REQUESTED:
                await asyncio.sleep(pause)
            yield lane.host
        finally:
            lane.leave()

    def has(self, python: str) -> bool:
        """Whether ``python`` has a host, and the pool has not been closed since it got it."""
        return python in self._lanes

    def second(self, python: str) -> H:
        """Another host of an interpreter, to be started before it may ``take_part``."""
        if python not in self._second:
            self._second[python] = _Lane(self._make(python))
        return self._second[python].host

    def take_part(self, python: str, host: H) -> None:
        """The second host of ``python`` has started, if it still is ``host``."""
        lane = self._second.get(python)
        if lane is not None and lane.host is host:
            self._with_second.add(python)

    async def leave_second(self, python: str) -> None:
        """End the second host of ``python``, which cannot be started or was lost; another may be asked for."""
        self._with_second.discard(python)
        lane = self._second.pop(python, None)
        if lane is not None:
            await lane.host.close()

    def width(self, python: str) -> int:
        """How many runs there can be at a time for ``python`` that take either host."""
        return 2 if python in self._with_second else 1

    @asynccontextmanager
    async def turn_at_either(self, python: str, reason: Reason) -> AsyncIterator[H]:
        """Hold the second host of ``python`` where it takes part, is free, and the first one is not; else wait for the first one."""
        second = self._second.get(python)
        if second is None or python not in self._with_second or second.busy or not self._lane(python).busy:
            async with self.turn(python, reason) as host:
                yield host
            return
        await second.enter(reason, next(self._numbers))
        try:
            yield second.host
        finally:
            second.leave()

    def succeeded(self, python: str) -> None:
        """The agent of ``python`` did its work: the next run need not wait."""
        lane = self._lane(python)
        lane.failures, lane.not_before = 0, 0.0

    def failed(self, python: str) -> float:
        """The agent of ``python`` could not start or was lost; the seconds for which background runs wait now."""
        lane = self._lane(python)
        pause = min(self._first_pause_s * float(1 << min(lane.failures, 16)), LONGEST_PAUSE_S)
        lane.failures += 1
        lane.not_before = asyncio.get_running_loop().time() + pause
        return pause

    async def close(self) -> None:
        """End all hosts. The pool can be used again."""
        lanes = [*self._lanes.values(), *self._second.values()]
        self._lanes, self._second, self._with_second = {}, {}, set()
        await asyncio.gather(*(lane.host.close() for lane in lanes))

    def _lane(self, python: str) -> _Lane[H]:
        lane = self._lanes.get(python)
        if lane is None:
            lane = self._lanes[python] = _Lane(self._make(python))
        return lane
