"""Runs code of the user's or of a library for a value that the caller can do without."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def attempted(action: Callable[[], T]) -> T | None:
    """What ``action`` returns; None where it raises."""
    try:
        return action()
    # code that is not ours may raise anything, and a script exits; without the value, something else is tried or shown
    except (Exception, SystemExit):
        return None
