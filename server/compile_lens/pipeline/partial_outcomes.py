"""Publishes partial outcomes while a program runs: in a worker thread, from the newest report only, at a pace that adapts to their cost."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable

from compile_lens.analysis.outcome import Outcome

LEAST_PAUSE_S = 0.03
# what is told again takes at most a sixth of one processor
PAUSE_PER_COST = 5.0

_log = logging.getLogger("compile_lens")


class PartialOutcomes:
    """The partial outcomes of one run; all methods are called on the event loop.

    ``snapshot`` takes what is known now, on the event loop, and returns what makes an outcome of it, in a worker thread.
    """

    def __init__(self, snapshot: Callable[[], Callable[[], Outcome]], tell: Callable[[Outcome], None]) -> None:
        self._snapshot = snapshot
        self._tell = tell
        self._has_news = False
        self._not_before = time.monotonic() + LEAST_PAUSE_S
        self._work: asyncio.Task[None] | None = None

    def changed(self) -> None:
        """There is something new. It is told also if nothing else comes: a program that breaks and then trains must not keep it."""
        self._has_news = True
        if self._work is None:
            self._work = asyncio.create_task(self._tell_news())
            self._work.add_done_callback(_report)

    def end(self) -> None:
        """Nothing is told after this."""
        self._has_news = False
        if self._work is not None:
            self._work.cancel()

    async def _tell_news(self) -> None:
        try:
            while self._has_news:
                await asyncio.sleep(max(0.0, self._not_before - time.monotonic()))
                self._has_news = False
                make, began = self._snapshot(), time.monotonic()
                outcome = await asyncio.to_thread(make)
                ended = time.monotonic()
                self._not_before = ended + max(LEAST_PAUSE_S, PAUSE_PER_COST * (ended - began))
                self._tell(outcome)
        finally:
            self._work = None


def _report(work: asyncio.Task[None]) -> None:
    if not work.cancelled() and (error := work.exception()) is not None:
        _log.warning("Findings could not be shown while the program ran.", exc_info=error)
