"""Decides when a document is analyzed: the newest request per document cancels the one before it.

Nothing here knows what is run. A request becomes a ticket with a generation; whoever publishes asks whether the ticket
still counts.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, TypeVar

DEBOUNCE_S = 0.1
# the first request after so long a pause is none of a series
PAUSE_S = 0.3
T = TypeVar("T")


class Reason(IntEnum):
    """Why a run was asked for; the smaller goes first where several wait."""

    REQUESTED = 0
    SAVED = 1
    OPENED = 2
    CHECKED = 3


@dataclass(frozen=True, slots=True)
class Ticket:
    """One request to analyze the document ``uri``. Generations only grow."""

    uri: str
    generation: int
    reason: Reason


class Scheduler:
    """Runs at most one piece of work per document, the newest.

    Work for a document that is saved again and again, and for documents that are opened one after the other, waits ``debounce_s`` first.
    """

    def __init__(self, debounce_s: float = DEBOUNCE_S) -> None:
        self._debounce_s = debounce_s
        # when each document was requested last, as far as that can still be a part of a series
        self._requested: dict[str, float] = {}
        self._generations = itertools.count(1)
        self._current: dict[str, tuple[Ticket, asyncio.Task[Any]]] = {}
        self._unfinished: dict[str, set[asyncio.Task[Any]]] = {}

    def submit(self, uri: str, reason: Reason, work: Callable[[Ticket], Awaitable[T]]) -> asyncio.Task[T]:
        """Start ``work`` for ``uri`` once the work before it, which is canceled, is over.

        The task may be canceled by later requests.
        """
        self.cancel(uri)
        ticket = Ticket(uri, next(self._generations), reason)
        before = set(self._unfinished.get(uri, ()))
        task = asyncio.create_task(
            self._work(ticket, before, self._pause(uri, reason), work), name=f"analysis of {uri}"
        )
        self._current[uri] = (ticket, task)
        self._unfinished.setdefault(uri, set()).add(task)
        task.add_done_callback(lambda done: self._finished(ticket, done))
        return task

    def is_current(self, ticket: Ticket) -> bool:
        """Whether no later request and no cancellation has come since ``ticket``."""
        current = self._current.get(ticket.uri)
        return current is not None and current[0] == ticket

    async def settled(self, uri: str) -> None:
        """Wait until no work for ``uri`` is current."""
        while (current := self._current.get(uri)) is not None:
            await asyncio.wait({current[1]})

    def active(self) -> list[str]:
        """The documents that are being analyzed, or wait for it."""
        return list(self._current)

    def cancel(self, uri: str | None = None) -> bool:
        """Cancel the work for ``uri``, or all of it; whether there was any."""
        chosen = list(self._current) if uri is None else [uri]
        cancelled = False
        for name in chosen:
            if (entry := self._current.pop(name, None)) is not None:
                cancelled = entry[1].cancel() or cancelled
        return cancelled

    async def close(self) -> None:
        """Cancel everything and wait until it is over."""
        self.cancel()
        unfinished = [task for tasks in self._unfinished.values() for task in tasks]
        await asyncio.gather(*unfinished, return_exceptions=True)

    def _pause(self, uri: str, reason: Reason) -> float:
        """Seconds that a request of now waits: none if it is the first one for a while."""
        now = time.monotonic()
        self._requested = {name: at for name, at in self._requested.items() if now - at < PAUSE_S}
        is_of_series = uri in self._requested if reason is Reason.SAVED else bool(self._requested)
        self._requested[uri] = now
        return self._debounce_s if is_of_series and reason is not Reason.REQUESTED else 0.0

    async def _work(
        self, ticket: Ticket, before: set[asyncio.Task[Any]], pause_s: float, work: Callable[[Ticket], Awaitable[T]]
    ) -> T:
        if before:
            await asyncio.wait(before)
        if pause_s:
            await asyncio.sleep(pause_s)
        return await work(ticket)

    def _finished(self, ticket: Ticket, task: asyncio.Task[Any]) -> None:
        if self.is_current(ticket):
            del self._current[ticket.uri]
        tasks = self._unfinished[ticket.uri]
        tasks.discard(task)
        if not tasks:
            del self._unfinished[ticket.uri]


class BackgroundTasks:
    """Tasks that nobody awaits, held so that they are not lost, and ended together."""

    def __init__(self, on_error: Callable[[BaseException], None]) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        self._on_error = on_error

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run ``work``; an exception of it goes to ``on_error``. The task may be canceled."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    async def close(self) -> None:
        """Cancel what still runs and wait until it is over."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._on_error(error)
