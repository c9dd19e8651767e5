"""Searches the inputs of a model of a program in a copy of the process, and ends in time to say how far it came.

A copy that is killed says nothing. So a search ends a while before its copy does: on a machine that others use, where its processor time
takes longer, what came furthest is still told.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType

from ..runtime.entry_plans import CallTime
from ..runtime.entry_protocol import CallNotMade
from .calling.ahead import Died, ahead, of_copy
from .failed_search import KILLED, why_ended
from .synthesis.making.object_calls import FoundCall
from .synthesis.trying.search import NotFound, SearchBudget
from .synthesis.what_to_change import not_made

# seconds of processor time for the inputs of each model, and seconds by the clock until its copy ends
SEARCH_S = 15.0
SEARCH_CLOCK_S, LEAST_CLOCK_S = 45.0, 10.0
# of the latter, for the search itself; the rest is for the trial that it has begun
OF_COPY = 0.75
# a shorter search finds nothing
SHORTEST_S = 2.0
MAX_TRIALS = 60
# for a call that is only written
DRAFT_S = 3.0
NO_TIME = "no time was left for it; a higher `run.timeout` gives more"

Find = Callable[[SearchBudget], FoundCall]
# what is written for a search that ended with an error; None for one that did not come to its end
Draft = Callable[["NotFound | None"], str]


@dataclass(frozen=True)
class Drafting:
    """How a call of something of ``module`` is ``written`` where the search has found none; ``file`` is the analyzed one."""

    module: ModuleType
    written: Draft
    file: str

    def of(self, name: str, error: NotFound | None, why: str) -> CallNotMade:
        """What is said of ``name``, whose search ended with ``error``."""
        draft = self.written(error)
        return not_made(self.module, name, why, draft, error.shown if error is not None else None, self.file)


class SearchClock:
    """How long searches may take, by the clock: all of them together, and each."""

    def __init__(self, time_limit: CallTime, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._end = clock() + time_limit.clock_seconds
        self._has_begun = False

    @property
    def is_over(self) -> bool:
        """Whether the time of all of them is up."""
        return self._clock() > self._end

    def next_s(self) -> float:
        """The seconds for the next search; 0 where there is no time for one. The first one gets some in any case: the time after the
        end is meant for calls that are compiled, and without any search there would be none."""
        least = 0.0 if self._has_begun else LEAST_CLOCK_S
        self._has_begun = True
        left = min(SEARCH_CLOCK_S, max(self._end - self._clock(), least))
        return left if left >= SHORTEST_S else 0.0


def searched(find: Find, name: str, clock_s: float, drafting: Drafting | None = None) -> FoundCall | CallNotMade:
    """What ``find`` returns in a copy of the process that ends after ``clock_s`` seconds; else why there is no call of ``name``, and one to
    complete if a call of the file constructs it (``drafting``). With 0 s, nothing is searched."""

    def failed(why: str, error: NotFound | None = None) -> CallNotMade:
        return drafting.of(name, error, why) if drafting is not None else CallNotMade(name, why)

    def failed_aside(why: str) -> CallNotMade:
        return of_copy(lambda: failed(why), DRAFT_S) or CallNotMade(name, why)

    if not clock_s:
        return failed_aside(NO_TIME)

    def result() -> FoundCall | CallNotMade:
        try:
            return find(SearchBudget(MAX_TRIALS, SEARCH_S, clock_seconds=clock_s * OF_COPY))
        except NotFound as error:
            return failed(str(error), error)
        except (Exception, SystemExit) as error:  # code of the user's may raise anything
            return failed(why_ended(error)[0])

    with ahead(lambda send: send(result()), clock_s) as values:
        found = next(values, None)
    if isinstance(found, FoundCall | CallNotMade):
        return found
    why = (
        f"{KILLED}: {found.why}" if isinstance(found, Died) else f"the search for inputs took more than {clock_s:.0f} s"
    )
    return failed_aside(why)
