"""Searches arguments with which a call returns: tries a call, changes what made it fail, and tries again."""

from __future__ import annotations

import functools
import itertools
import math
import re
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from ....instrument.unrecorded import unrecorded
from ....runtime.torchscript_errors import reason_of
from ...calling.call_in_progress import CrashedBefore, in_progress
from ...calling.time_limit import SlowTrial, TrialTooLong, at_most
from ...importing.absent import NeedsAbsent, behind, is_refused
from ...importing.moved_stand_ins import stands_in_after
from ..changes.demanded_values import is_demanded_of_kept
from ..changes.other_lengths import told_length
from ..changes.other_shapes import larger, smaller
from ..changes.other_values import is_of_kept, is_of_object, needs_one_of
from ..errors.failing_lines import failing_place
from ..errors.lacking_object import lacks_in_kept
from ..errors.messages import is_too_large, is_too_small, requirements
from ..errors.named_methods import asks_for_method
from ..terms.call_problem import CallProblem
from ..terms.candidate import Candidate
from .next_candidates import next_candidates
from .probed_sizes import with_probed_own_sizes, with_probed_sizes
from .progress import ExecutedLine, ends_before, steps_to
from .trial import EndedProgram, attempt, ended_with

# candidates that follow from one failure, and conditions that are negated for them, each by a search of its own
MAX_FOLLOWING = 14
# those that only find out what else is read of an object
FREE_TRIALS = 40
# for inputs that are likely
LIKELY_TRIALS, LIKELY_SHARE = 12, 0.4
# one call may take a third of what is left, but at least so many seconds: one that is slow because it is large is tried smaller.
# So may all that is learned of one failure: what else was thought of gets its turn
TRIAL_SHARE = 1 / 3
LEAST_TRIAL_S = 2.0
# sizes may be found in several steps; what goes on failing alike waits for the other candidates
MOST_REPEATED = 2
# errors that are kept for what they tell of the object
MOST_TOLD = 3


class NotFound(Exception):
    """No arguments were found; its message is the error of the call that came furthest. ``draft`` is a call with what is known, '' where
    nothing is.

    ``of_object`` is an error for which the object that is called must be another one: no arguments of the call help. ``error`` is
    that of the call that came furthest, ``nearest`` its arguments, ``first`` the error that the search began with, and ``told`` those
    that tell what the object must be made with. ``shown`` is the error that the message is about, also where it was one of a constructor.
    ``call`` is the one that came furthest, in the form of one that is found; None where the object could not be made.
    """

    def __init__(
        self,
        message: str,
        draft: str = "",
        of_object: BaseException | None = None,
        error: BaseException | None = None,
        first: BaseException | None = None,
        nearest: Candidate | None = None,
        shown: BaseException | None = None,
        told: tuple[BaseException, ...] = (),
    ) -> None:
        super().__init__(message)
        self.draft = draft
        self.of_object = of_object
        self.error = error
        self.first = first
        self.nearest = nearest
        self.shown = error if shown is None else shown  # one of the program's may say that it is false
        self.told = told
        self.call: Any = None


@dataclass(frozen=True, slots=True)
class _Failure:
    """How a call failed: what was said, in which file and line, and what the program was doing. ``repeated``: how many of the failures that
    led to it are the same but for numbers."""

    sentence: str
    place: tuple[str, int]
    steps: tuple[ExecutedLine, ...]
    repeated: int = 0

    @classmethod
    def of(cls, error: BaseException, before: _Failure | None) -> _Failure:
        """The failure of a call that was to avoid ``before``."""
        found = cls(sentence_of(error), failing_place(error), steps_to(error))
        is_alike = before is not None and found.steps == before.steps and found.form == before.form
        return replace(found, repeated=before.repeated + 1) if before is not None and is_alike else found

    @property
    def form(self) -> str:
        """The sentence without its numbers."""
        return re.sub(r"\d+", "", self.sentence)

    def leads_on_from(self, before: _Failure | None) -> bool:
        """Whether a call that failed so, and was to avoid ``before``, changed something, and undid nothing."""
        if before is None:
            return True
        # torch says the same of another call, in a line of its own
        is_same = (self.sentence, self.place, self.steps) == (before.sentence, before.place, before.steps)
        is_stuck = self.repeated > MOST_REPEATED
        return not is_same and not is_stuck and not ends_before(self.steps, before.steps)


@dataclass(slots=True)
class _Furthest:
    """The failed call of a search that came furthest, the first of several."""

    candidate: Candidate | None = None
    error: BaseException | None = None
    steps: tuple[ExecutedLine, ...] = ()
    told: dict[str, BaseException] = field(default_factory=dict)

    def take(self, candidate: Candidate, error: BaseException, steps: tuple[ExecutedLine, ...]) -> None:
        """Note a failed call."""
        if self.candidate is None or ends_before(self.steps, steps):
            self.candidate, self.error, self.steps = candidate, error, steps
        if told_length(error) and len(self.told) < MOST_TOLD:
            self.told.setdefault(sentence_of(error), error)

    def not_found(self, of_object: BaseException | None = None, first: BaseException | None = None) -> NotFound:
        """What the search ends with, where an error ``of_object`` does not say more."""
        error = self.error if of_object is None else of_object
        # a batch has a dimension more than one item
        told = sorted(self.told.values(), key=told_length, reverse=True)
        return NotFound(sentence_of(error), "", of_object, error, first, self.candidate, told=tuple(told))


@dataclass(slots=True)
class SearchBudget:
    """Limits of a search: ``trials`` calls, and ``seconds`` of this thread's processor time.

    On a busy machine everything takes longer, and the same inputs are found. The run's own limit is one of wall-clock time. ``more``:
    seconds beyond them for what other files of the package construct; 0 where these are not looked at. ``clock_seconds``: by the clock,
    for a search that must end in time to say how far it came.
    """

    trials: int = 60
    seconds: float = 20.0
    more: float = 0.0
    clock_seconds: float = math.inf
    _started: float = field(default_factory=time.thread_time)
    _began: float = field(default_factory=time.monotonic)

    @property
    def left(self) -> float:
        """The remaining seconds."""
        of_clock = self.clock_seconds - (time.monotonic() - self._began)
        return max(0.0, min(self.seconds - (time.thread_time() - self._started), of_clock))

    @property
    def end(self) -> float:
        """Until when one failure may be learned from, as a time of ``time.thread_time``: by the clock it comes no sooner than that."""
        return time.thread_time() + min(self.trial_seconds, self.left)

    @property
    def trial_seconds(self) -> float:
        """The time limit of one trial."""
        return max(self.left * TRIAL_SHARE, LEAST_TRIAL_S)

    def spend(self) -> bool:
        """Use one trial. False when none is left."""
        if self.trials <= 0 or not self.left:
            return False
        self.trials -= 1
        return True


def search(problem: CallProblem, start: list[Candidate], budget: SearchBudget) -> Candidate:
    """The first candidate whose real call returns. Raises NotFound, also when ``budget`` is used up."""
    # each with the failure that it may avoid
    waiting: list[tuple[Candidate, _Failure | None]] = [(each, None) for each in reversed(start)]
    tried: set[tuple[str, int]] = set()
    first: BaseException | None = None
    furthest = _Furthest()
    free = FREE_TRIALS
    while waiting:
        candidate, before = waiting.pop()
        if candidate.identity in tried:
            continue
        tried.add(candidate.identity)
        if not budget.spend():
            break
        error = _try_for_real(problem, candidate, budget.trial_seconds)
        if error is None:
            return candidate
        first = error if first is None else first
        failure = _Failure.of(error, before)
        furthest.take(candidate, error, failure.steps)
        if isinstance(error, (SlowTrial, CrashedBefore)) or is_too_large(error):
            others = problem.others(candidate, error) if problem.others is not None else ()
            # the last one is tried next
            waiting.extend((each, None) for each in (*smaller(candidate), *reversed(tuple(others))))
            continue
        if free and any(wanted.kind in ("attribute", "key") and wanted.value for wanted in requirements(error)):
            free -= 1
            budget.trials += 1  # each adds a value that a configuration lacks, and fails at once
        if not budget.left or isinstance(error, ImportError) or is_refused(error):
            break  # no other argument makes a module be there
        is_number_called = is_of_object(error) and not any(candidate.arguments.plain())
        is_kept = is_of_kept(problem.kept, error) or is_demanded_of_kept(problem.kept, error)
        is_kept = is_kept or (
            bool(problem.kept) and lacks_in_kept(error, dict(candidate.arguments.named), problem.kept)
        )
        if is_number_called or is_kept or asks_for_method(error) or needs_one_of(problem.open_parts, error):
            raise furthest.not_found(error, first)
        enlarged = next(larger(candidate), None) if is_too_small(error) else None
        if enlarged is not None:
            waiting.append((enlarged, None))  # that is certain, and a deep model takes long
            continue
        # symbolic sizes take longer: they are used only now, to learn which of them are wrong
        trial = attempt(candidate.unknowns, functools.partial(_symbolic, problem, candidate, budget.trial_seconds))
        end = budget.end  # the first trial also imports what it needs, which takes seconds
        try_call = functools.partial(_tried, problem, budget, error, end)
        probes = (with_probed_sizes, with_probed_own_sizes) if not failure.repeated else ()
        probe = tuple(functools.partial(each, candidate, error, try_call) for each in probes)
        others = _until_one_fails(next_candidates(problem, candidate, error, trial.conditions, end, *probe))
        following = itertools.takewhile(lambda _: budget.left > 0, others)
        found = [(each, failure) for each in itertools.islice(following, MAX_FOLLOWING)][::-1]
        if failure.leads_on_from(before):
            waiting += found
        else:
            waiting[:0] = found
    raise furthest.not_found(first=first)


def _until_one_fails(candidates: Iterator[Candidate]) -> Iterator[Candidate]:
    """``candidates`` up to one that cannot be thought of, which says nothing of the program: what waits is tried all the same."""
    try:
        yield from candidates
    except (TrialTooLong, NotFound):
        raise
    except (Exception, SystemExit):  # the objects of a program that are looked at may raise anything
        traceback.print_exc()


def search_likely(problem: CallProblem, likely: list[Candidate], budget: SearchBudget) -> Candidate | None:
    """The first of ``likely`` whose real call returns, else what the one leads to within a part of ``budget`` whose call came furthest;
    None if it leads nowhere."""
    furthest = _Furthest()
    found = first_that_returns(problem, likely, budget, furthest)
    if found is not None or furthest.candidate is None:
        return found
    try:
        part = SearchBudget(min(budget.trials, LIKELY_TRIALS), budget.left * LIKELY_SHARE)
        return search(problem, [furthest.candidate], part)
    except NotFound as failed:
        if failed.of_object is not None:
            raise
        return None


def first_that_returns(
    problem: CallProblem, candidates: Iterable[Candidate], budget: SearchBudget, furthest: _Furthest | None = None
) -> Candidate | None:
    """The first of ``candidates`` whose real call returns; nothing follows from those that fail, which ``furthest`` takes."""
    for candidate in candidates:
        error = _try_for_real(problem, candidate, budget.trial_seconds) if budget.left else None
        if budget.left and error is None:
            return candidate
        if error is not None and furthest is not None:
            furthest.take(candidate, error, steps_to(error))
    return None


def _tried(
    problem: CallProblem, budget: SearchBudget, before: Exception, end: float, candidate: Candidate
) -> Exception | None:
    """What the call of a probe raises; ``before``, as if it changed nothing, where no trial is left, or at the time ``end``."""
    is_late = time.thread_time() > end or not budget.spend()
    return before if is_late else _try_for_real(problem, candidate, budget.trial_seconds)


def _try_for_real(problem: CallProblem, candidate: Candidate, seconds: float) -> Exception | None:
    error = _tried_once(problem, candidate, seconds)
    while error is not None and stands_in_after(error):
        error = _tried_once(problem, candidate, seconds)
    return error


def _tried_once(problem: CallProblem, candidate: Candidate, seconds: float) -> Exception | None:
    import torch

    try:
        # the same weights and values as in the call that is compiled
        torch.manual_seed(0)
        with unrecorded(), at_most(seconds, SlowTrial), in_progress.making(f"{problem.called}({candidate.text})"):
            problem.real(candidate.text)
    except SlowTrial as late:
        return late
    except TrialTooLong:
        raise
    except SystemExit as end:
        return ended_with(end)
    except Exception as error:  # code of the user's may raise anything
        found = behind(error)
        return found if isinstance(found, Exception) else error
    return None


def _symbolic(problem: CallProblem, candidate: Candidate, seconds: float, size: Callable[[str], Any]) -> object:
    with at_most(seconds, SlowTrial), in_progress.making(f"{problem.called}({candidate.text})"):
        return problem.symbolic(candidate.arguments, size)


def sentence_of(error: BaseException | None) -> str:
    """What an error says, in one line."""
    if error is None:
        return "the time limit was reached before the first call"
    if isinstance(error, (TrialTooLong, CrashedBefore, EndedProgram)):
        return str(error)
    lines = reason_of(str(error)).splitlines()
    first = next((" ".join(line.split()) for line in lines if line.strip()), "")
    # what was absent names its cause
    kind = "" if isinstance(error, NeedsAbsent) else type(error).__name__
    text = ": ".join(filter(None, (kind, first)))
    return text if len(text) <= 200 else f"{text[:199]}…"
