"""Shares the time limit of a check among the entries that it tries, so that the last one still has time, and the check ends."""

from __future__ import annotations

import time
from collections.abc import Callable

# of the limit: for calls that we make up while others are to be tried, and for the last entry, however long those before it took
USUAL_SHARE = 0.8
LAST_SHARE = 0.2


class EntryTime:
    """``limit_s`` is the time limit of a run, in seconds by the clock. All entries together get as much, and ``LAST_SHARE`` of it more."""

    def __init__(self, limit_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit_s = limit_s
        self._clock = clock
        self._started = clock()

    @property
    def elapsed_s(self) -> float:
        """Seconds since the first entry began. Whole ones: what comes before the first run takes none of its time."""
        return (self._clock() - self._started) // 1

    @property
    def is_over(self) -> bool:
        """Whether only the last entry is to begin."""
        return self.elapsed_s >= self._limit_s

    def left_for(self, *, is_last: bool, is_usual: bool) -> float:
        """The limit of the next entry, in seconds. ``is_usual``: it is called as users call it, and more time only adds to it."""
        left = max(self._limit_s - self.elapsed_s, self._limit_s * LAST_SHARE)
        return min(left, self._limit_s * USUAL_SHARE) if is_usual and not is_last else min(left, self._limit_s)
