"""Reports once what is unavailable on this machine or with this torch; it reaches the outcome as a note."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

Listener = Callable[[str, str], None]

_reported: dict[str, str] = {}
_listeners: list[Listener] = []
LONGEST_REASON = 300


def degraded(what: str, why: str | BaseException) -> None:
    """Report that ``what`` ("exact columns") is unavailable because of ``why``; once for each ``what``."""
    if what in _reported:
        return
    reason = why if isinstance(why, str) else f"{type(why).__name__}: {why}"
    _reported[what] = reason.strip().partition("\n")[0][:LONGEST_REASON]
    for listener in _listeners:
        listener(what, _reported[what])


@contextlib.contextmanager
def degraded_if_it_fails(what: str) -> Iterator[None]:
    """Report a failure in the block as ``what`` being unavailable: it looks at objects of the user's, or of another torch."""
    try:
        yield
    except Exception as error:  # attributes of such objects may raise anything, and the program must go on
        degraded(what, error)


def listen(listener: Listener) -> None:
    """Call ``listener`` with what was reported so far, and with what is reported from now on."""
    for what, why in _reported.items():
        listener(what, why)
    _listeners.append(listener)


def reported() -> dict[str, str]:
    """What was reported so far, with the reasons."""
    return dict(_reported)
