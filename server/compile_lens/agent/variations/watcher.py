"""Keeps the first call of each region of a run, and varies it after the program."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from ..instrument.region_calls import user_target, with_hooks
from ..runtime import process_group
from ..runtime.degraded import degraded_if_it_fails
from ..runtime.protocol import VariationRequest
from .call_snapshot import ArgumentNames, CallSnapshot, take_snapshot
from .input_variations import InputVariation
from .measure import VariedRegion, call_in_other_mode, repeat, vary
from .settings import Settings
from .usual_variations import usual_variations

# shares of the run's time limit: after the first, the next call of a region ends the program; the second is for all of the run
PROGRAM_SHARE = 0.4
RUN_SHARE = 0.85
# usual calls get so many times what the first one took, up to so many seconds, however long the program ran before it: one compiles the
# first call anew, and one compiles it in eval mode
LEAST_TIMES = 2.5
LEAST_S = 30.0
# the first model has this share of the time for usual calls, and the others share the rest; those whose call took less than so many seconds
# are called in the other mode at once, as the first one is
FIRST_SHARE = 0.5
QUICK_S = 3.0


class EndOfProgram(SystemExit):
    """Ends a program that has called its regions, as ``sys.exit(0)`` would."""

    def __init__(self) -> None:
        super().__init__(0)


# optional arguments by name, with text and value of each
Offers = Iterable[tuple[str, str, Any]]


class VariationWatcher:
    """One per run, which takes at most ``seconds``."""

    def __init__(self, request: VariationRequest, seconds: float) -> None:
        self._names = request.names
        self._is_usual = request.usual
        self._has_sizes = request.has_sizes
        self._started = time.monotonic()
        self._seconds = seconds
        # usual calls are made on a busy machine, too: their limit is one of processor time
        self._clock = time.thread_time if request.usual else time.monotonic
        self._end = self._clock() + (request.seconds or seconds * RUN_SHARE)
        self._regions: dict[int, VariedRegion] = {}
        self._offers: dict[int, Callable[[], Offers]] = {}
        self._settings: dict[int, Settings] = {}
        self._call_began: float | None = None
        self._repeated = 0
        self._made_up: set[int] = set()
        self._in_group: set[int] = set()
        self._in_other_mode: dict[int, str] = {}
        self._known_code: dict[int, Any] = {}  # by identity: code that Dynamo makes may not be hashable
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
        if not self._is_usual and self._regions and time.monotonic() - self._started > self._seconds * PROGRAM_SHARE:
            self._is_over = True
            raise EndOfProgram
        if region in self._regions:
            return
        # copies the user's arguments, whose code may raise anything
        with degraded_if_it_fails("variations of a region"):
            self._keep(region, compiled, fn, args, kwargs)

    def _keep(self, region: int, compiled: Callable[..., Any], fn: Callable[..., Any], args: Any, kwargs: Any) -> None:
        target = user_target(fn)
        name = getattr(target, "__qualname__", type(target).__qualname__)
        if self._names and not any(
            name == n or name.startswith(f"{n}.") or name.endswith(f".{n}") for n in self._names
        ):
            return
        # a function that is compiled anew in each iteration of a loop is one region
        code = getattr(getattr(target, "__func__", target), "__code__", None) or type(target)
        if id(code) in self._known_code:
            return
        self._known_code[id(code)] = code
        if self._call_began is None:
            self._call_began = self._clock()
        self._regions[region] = VariedRegion(region, name, compiled, fn, take_snapshot(args, kwargs))
        if process_group.has_begun():
            self._in_group.add(region)

    def newly_called(self) -> list[VariedRegion]:
        """The regions that were called since the last ``after_call``."""
        return list(self._regions.values())[self._repeated :]

    def after_call(
        self,
        again: Callable[[], object] | None,
        offers: Callable[[], Offers],
        settings: Settings = tuple,
        is_apart: bool = True,
        is_made_up: bool = False,
    ) -> None:
        """An entry has made a call. Make it ``again``, before anything is reset, and in the other mode if the calls that follow are
        ``is_apart``, compiled from nothing; ``offers`` are optional arguments for later, ``settings`` the object made in other ways. One
        that ``is_made_up`` shows no sizes, whatever the program shows for others."""
        is_first = not self._repeated
        new = self.newly_called()
        self._repeated = len(self._regions)
        if not new or not self._is_usual:
            return
        now = self._clock()
        lasted = now - (now if self._call_began is None else self._call_began)
        if self._call_began is not None:
            self._end = end_of_usual_calls(self._end, self._call_began, now)
            self._call_began = None
        # the call began with its first region
        self._offers.update({region.number: offers if region is new[0] else tuple for region in new})
        self._settings[new[0].number] = settings
        self._made_up.update(region.number for region in new if is_made_up)
        if again is not None:
            repeat(new[0], again)
        if is_apart and (is_first or lasted < QUICK_S) and self._clock() + lasted <= self._end:
            self._in_other_mode[new[0].number] = call_in_other_mode(new[0])

    def at_end(self) -> None:
        """After the program: vary its regions, each for its share of the remaining time."""
        self._is_over = True
        regions = list(self._regions.values())
        if self._is_usual:  # what the file calls itself is not called in ways that it does not show
            regions = [region for region in regions if region.number in self._offers]
        for number, region in enumerate(regions):
            now = self._clock()
            choose = None
            if self._is_usual:
                offers = self._offers.get(region.number, tuple)
                choose = partial(self._usual, region.number, _late(offers))
            # one that was made for the program's call, or that the program itself has ended, is not there any more
            with process_group.alone(region.number in self._in_group):
                is_favored = self._is_usual and number == 0 and len(regions) > 1
                end = now + (self._end - now) * (FIRST_SHARE if is_favored else 1 / (len(regions) - number))
                vary(region, end, choose, self._clock, self._settings.get(region.number, tuple))

    def _usual(
        self, region: int, offered: Offers, base: CallSnapshot, names: ArgumentNames, modules: list[Any]
    ) -> Iterator[InputVariation]:
        has_sizes = self._has_sizes and region not in self._made_up
        for variation in usual_variations(base, names, modules, offered, has_sizes):
            if variation.phrase != self._in_other_mode.get(region):
                yield variation


def end_of_usual_calls(end: float, began: float, now: float) -> float:
    """When usual calls end after a call that lasted from ``began`` to ``now``, where the time for all of the run ends at ``end``."""
    return max(end, now + min(LEAST_TIMES * (now - began), LEAST_S))


def _late(offers: Callable[[], Offers]) -> Offers:
    """``offers()``, once it is asked for."""
    yield from offers()


def of_run() -> VariationWatcher | None:
    """The watcher of this process, if regions are varied."""
    return _watcher


def begin(request: VariationRequest, seconds: float) -> VariationWatcher:
    """Watch the regions of this process from now on."""
    global _watcher
    _watcher = VariationWatcher(request, seconds)
    return _watcher


_watcher: VariationWatcher | None = None
