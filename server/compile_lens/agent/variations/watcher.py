"""Keeps the first call of each region of a run, and varies it after the program."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from ..instrument.region_calls import user_target, with_hooks
from ..runtime.degraded import degraded
from .call_snapshot import take_snapshot
from .measure import VariedRegion, vary

# shares of the run's time limit: after the first, the next call of a region ends the program; the second is for all of the run
PROGRAM_SHARE = 0.4
RUN_SHARE = 0.85


class EndOfProgram(SystemExit):
    """Ends a program that has called its regions, as ``sys.exit(0)`` would."""

    def __init__(self) -> None:
        super().__init__(0)


class VariationWatcher:
    """One per run. ``names`` are those of the functions and modules to vary; none means all."""

    def __init__(self, names: Sequence[str], seconds: float) -> None:
        self._names = names
        self._started = time.monotonic()
        self._seconds = seconds
        self._regions: dict[int, VariedRegion] = {}
        self._known_code: set[Any] = set()
        self._is_over = False

    def region_begins(self, region: int) -> None:
        """Nothing is known of it yet."""

    def wrap(self, region: int, compiled: Callable[..., Any], fn: Callable[..., Any]) -> Callable[..., Any]:
        """``fn`` with a hook that keeps its first call."""
        return with_hooks(fn, lambda args, kwargs: self._before(region, compiled, fn, args, kwargs), lambda *_: None)

    def _before(
        self, region: int, compiled: Callable[..., Any], fn: Callable[..., Any], args: Any, kwargs: Any
    ) -> None:
        if self._is_over:
            return
        if self._regions and time.monotonic() - self._started > self._seconds * PROGRAM_SHARE:
            self._is_over = True
            raise EndOfProgram
        if region in self._regions:
            return
        try:
            self._keep(region, compiled, fn, args, kwargs)
        except Exception as error:  # copies the user's arguments, whose code may raise anything
            degraded("variations of a region", error)

    def _keep(self, region: int, compiled: Callable[..., Any], fn: Callable[..., Any], args: Any, kwargs: Any) -> None:
        target = user_target(fn)
        name = getattr(target, "__qualname__", type(target).__qualname__)
        if self._names and not any(
            name == n or name.startswith(f"{n}.") or name.endswith(f".{n}") for n in self._names
        ):
            return
        # a function that is compiled anew in each iteration of a loop is one region
        code = getattr(getattr(target, "__func__", target), "__code__", None) or type(target)
        if code in self._known_code:
            return
        self._known_code.add(code)
        self._regions[region] = VariedRegion(region, name, compiled, fn, take_snapshot(args, kwargs))

    def at_end(self) -> None:
        """After the program: vary its regions, each for its share of the remaining time."""
        self._is_over = True
        end = self._started + self._seconds * RUN_SHARE
        regions = list(self._regions.values())
        for number, region in enumerate(regions):
            now = time.monotonic()
            vary(region, now + (end - now) / (len(regions) - number))
