"""Runs code of the user's or of a library for a value that the caller can do without."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


def attempted(action: Callable[[], T]) -> T | None:
    """What ``action`` returns; None where it raises."""
    try:
        return action()
    # code that is not ours may raise anything, and a script exits; without the value, something else is tried or shown
    except (Exception, SystemExit):
        return None


def part_of(owner: Any, path: str) -> Any:
    """What ``path`` leads to from ``owner``: `layers.0.cell`; None where it leads nowhere, or where something raises on the way."""

    def step(found: Any, name: str) -> Any:
        return found[int(name)] if name.isdecimal() else getattr(found, name)

    return attempted(lambda: functools.reduce(step, path.split("."), owner))
