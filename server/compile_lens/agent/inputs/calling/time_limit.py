"""Ends a trial that does not come back by itself: a model that loops, or one that computes for minutes on sizes that were made up."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType


class TrialTooLong(Exception):
    """A trial was ended; its message says after how long. ``draft`` is a call with what was known by then, '' where nothing was."""

    draft = ""


class CallTooLong(BaseException):
    """A compiled call was ended. No `except Exception`, neither the program's nor the compiler's, is to handle it."""


class SlowTrial(TrialTooLong):
    """One call was ended, and the search goes on with another one."""


def end_of_call(error: BaseException) -> CallTooLong | None:
    """The end of a compiled call that ``error`` is, or during whose handling it was raised: code that cleans up may fail halfway."""
    seen: set[int] = set()
    found: BaseException | None = error
    while found is not None and id(found) not in seen:
        if isinstance(found, CallTooLong):
            return found
        seen.add(id(found))
        found = found.__cause__ or found.__context__
    return None


def is_call_ending() -> bool:
    """Whether a compiled call has been told to end, and has not yet."""
    return _End.is_of_call


# the least that is left of an outer limit after an inner one
_LEAST_S = 0.05
# until what handles the end of a program, as `except BaseException` does, is told again
_AGAIN_S = 3.0


@contextlib.contextmanager
def at_most(seconds: float, ended: type[BaseException] = TrialTooLong) -> Iterator[None]:
    """Raise ``ended`` inside after ``seconds`` of processor time, between two operations.

    Without effect where there is no timer, where the program uses it, or where a limit around it comes first.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    outer, outer_left = signal.getsignal(signal.SIGPROF), signal.getitimer(signal.ITIMER_PROF)[0]
    is_inside = isinstance(outer, _End)
    if (not is_inside and (outer_left or outer is not signal.SIG_DFL)) or (is_inside and outer_left <= seconds):
        yield
        return
    started = time.process_time()
    signal.signal(signal.SIGPROF, _End(seconds, ended))
    signal.setitimer(signal.ITIMER_PROF, max(seconds, 0.1))
    try:
        yield
    finally:
        _End.is_of_call = False
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, outer)
        if is_inside:
            signal.setitimer(signal.ITIMER_PROF, max(outer_left - (time.process_time() - started), _LEAST_S))


@contextlib.contextmanager
def by_clock(seconds: float, end: Callable[[], object]) -> Iterator[None]:
    """Call ``end``, which raises, after ``seconds`` by the clock, between two operations or while one waits; again as long as something
    handles what it raises.

    Without effect where there is no such timer, or the program uses it.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not hasattr(signal, "setitimer") or not is_main or signal.getsignal(signal.SIGALRM) is not signal.SIG_DFL:
        yield
        return

    def on_alarm(_: int, __: FrameType | None) -> None:
        end()

    signal.signal(signal.SIGALRM, on_alarm)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, _LEAST_S), _AGAIN_S)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGALRM) is on_alarm:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)


class _End:
    """Ends what runs. ``is_of_call``: that is a compiled call, which has not ended yet."""

    is_of_call = False

    def __init__(self, seconds: float, ended: type[BaseException]) -> None:
        self._seconds = seconds
        self._ended = ended

    def __call__(self, _: int, __: FrameType | None) -> None:
        _End.is_of_call = issubclass(self._ended, CallTooLong)
        raise self._ended(f"it did not return within {self._seconds:.0f} s")
