"""Whether work grows with the length of what it reads, on a machine of any speed: never by how long it takes."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

# the longer text in shorter ones: work that grows with the square takes four times as much for each of them
TIMES_LONGER = 4
# what grows with the square takes sixteen times as long; what a busy machine adds is less than half of that
MOST_TIMES = 9.0
# below it, nobody waits, and a clock says little
FLOOR_S = 0.25
TRIES = 3


def seconds(work: Callable[[], object]) -> float:
    """Of this thread's processor time."""
    started = time.thread_time()
    work()
    return time.thread_time() - started


def grows_with_length(prepared: Callable[[int], Callable[[], object]], length: int) -> bool:
    """Whether the work that ``prepared`` makes for ``length`` takes little more than in proportion to a quarter of it.

    Of each, the least of several times counts: what else goes on can only make one longer.
    """
    long = prepared(length)
    if seconds(long) < FLOOR_S:
        return True
    short = prepared(length // TIMES_LONGER)
    least_short = least_long = float("inf")
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        for _ in range(TRIES):
            least_long = min(least_long, seconds(long))
            if least_long < FLOOR_S:
                return True
            least_short = min(least_short, seconds(short))
            if least_long < least_short * MOST_TIMES:
                return True
    finally:
        gc.enable()
        gc.unfreeze()
    return False
