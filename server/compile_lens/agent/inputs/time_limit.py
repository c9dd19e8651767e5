"""Ends a trial that does not come back by itself: a model that loops, or one that computes for minutes on sizes that were made up."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


class TrialTooLong(Exception):
    """A trial was ended; its message says after how long."""


@contextlib.contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise TrialTooLong inside after ``seconds`` of processor time, between two operations.

    Without effect where there is no timer, or where the program uses it.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    if signal.getitimer(signal.ITIMER_PROF)[0] or signal.getsignal(signal.SIGPROF) is not signal.SIG_DFL:
        yield  # the program's own
        return

    def end(_: int, __: FrameType | None) -> None:
        raise TrialTooLong(f"it did not return within {seconds:.0f} s")

    signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, max(seconds, 0.1))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
