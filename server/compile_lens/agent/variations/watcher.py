"""Keeps the first call of each region of a run, and varies it when the program has come to its end."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from typing import Any

from ..capture.recorder import innermost
from ..instrument.region_calls import spied
from .measure import Region, measure
from .snapshot import take

# of the time of a run, what the program may take before a next call of a region ends it, and what all of it may take
SHARE_OF_PROGRAM = 0.4
SHARE = 0.85


class Enough(SystemExit):
    """Ends a program that has shown its regions, as it would end itself."""

    def __init__(self) -> None:
        super().__init__(0)


class Watcher:
    """One per run. ``names`` are those of the functions and modules to vary; none means all."""

    def __init__(self, names: Sequence[str], seconds: float) -> None:
        self._names = names
        self._started = time.monotonic()
        self._seconds = seconds
        self._regions: dict[int, Region] = {}
        self._seen: set[Any] = set()
        self._is_over = False

    def region_begins(self, region: int) -> None:
        """Nothing is known of it yet."""

    def spy(self, region: int, compiled: Callable[..., Any], fn: Callable[..., Any]) -> Callable[..., Any]:
        """``fn`` with a look at its first call."""
        return spied(fn, lambda args, kwargs: self._before(region, compiled, fn, args, kwargs), lambda *_: None)

    def _before(
        self, region: int, compiled: Callable[..., Any], fn: Callable[..., Any], args: Any, kwargs: Any
    ) -> None:
        if self._is_over:
            return
        if self._regions and time.monotonic() - self._started > self._seconds * SHARE_OF_PROGRAM:
            self._is_over = True
            raise Enough
        if region in self._regions:
            return
        with contextlib.suppress(Exception):
            self._keep(region, compiled, fn, args, kwargs)

    def _keep(self, region: int, compiled: Callable[..., Any], fn: Callable[..., Any], args: Any, kwargs: Any) -> None:
        target = innermost(fn)
        name = getattr(target, "__qualname__", type(target).__qualname__)
        if self._names and not any(
            name == n or name.startswith(f"{n}.") or name.endswith(f".{n}") for n in self._names
        ):
            return
        # a function that is compiled anew in each round of a loop is one region
        code = getattr(getattr(target, "__func__", target), "__code__", None) or type(target)
        if code in self._seen:
            return
        self._seen.add(code)
        self._regions[region] = Region(region, name, compiled, fn, take(args, kwargs))

    def at_end(self) -> None:
        """The program is over: vary its regions, each for its share of the time that is left."""
        self._is_over = True
        end = self._started + self._seconds * SHARE
        waiting = list(self._regions.values())
        for number, region in enumerate(waiting):
            now = time.monotonic()
            measure(region, now + (end - now) / (len(waiting) - number))
