"""Searches arguments with which a call returns: tries a call, changes what made it fail, and tries again."""

from __future__ import annotations

import copy
import functools
import itertools
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from ...instrument.unrecorded import unrecorded
from ..absent import NeedsAbsent
from ..call_in_progress import CrashedBefore, in_progress
from ..time_limit import SlowTrial, TrialTooLong, at_most
from .arguments import Argument, Arguments, Group, Tensor
from .candidate import Candidate
from .dimensions import SizeCondition, Unknowns, by_relevance, solutions
from .messages import Requirement, failing_line, failing_place, is_too_small, requirements
from .other_lengths import with_other_length
from .other_shapes import (
    OTHER_RANKS,
    alike,
    larger,
    of_other_rank,
    of_rank,
    of_several,
    smaller,
    with_values,
)
from .other_values import (
    is_of_object,
    needs_one_of,
    with_callable,
    with_function,
    with_other_value,
    with_required_class,
    with_small_model,
)
from .structures import with_structure
from .trial import attempt

# candidates that follow from one failure, and conditions that are negated for them, each by a search of its own
MAX_FOLLOWING = 14
# `**kwargs` of the function
_OF_NAMED = re.compile(r"\bkw\w*\s*\[")
_TENSOR_WANTED = re.compile(
    r"'dict' object has no attribute '(?:shape|size|dim|ndim|dtype|device|view|reshape|split|transpose|permute|unsqueeze|float|long|to)'"
)
_STATES = re.compile(r"\bhx\b|\bhidden0\b|\bh_0\b")
# those that only find out what else is read of an object
FREE_TRIALS = 40
MAX_CONDITIONS = 8
# one call may take a third of what is left, but at least so many seconds: one that is slow because it is large is tried smaller
TRIAL_SHARE = 1 / 3
LEAST_TRIAL_S = 2.0


class NotFound(Exception):
    """No arguments were found; its message is the last error. ``draft`` is a call with what is known, '' where nothing is.

    ``of_object`` is an error for which the object that is called must be another one: no arguments of the call help. ``error`` is
    the last one.
    """

    def __init__(
        self,
        message: str,
        draft: str = "",
        of_object: BaseException | None = None,
        error: BaseException | None = None,
    ) -> None:
        super().__init__(message)
        self.draft = draft
        self.of_object = of_object
        self.error = error


@dataclass(slots=True)
class SearchBudget:
    """Limits of a search: ``trials`` calls, and ``seconds`` of this thread's processor time.

    On a busy machine everything takes longer, and the same inputs are found. The run's own limit is one of wall-clock time. ``more``:
    seconds beyond them for what other files of the package construct; 0 where these are not looked at.
    """

    trials: int = 60
    seconds: float = 20.0
    more: float = 0.0
    _started: float = field(default_factory=time.thread_time)

    @property
    def left(self) -> float:
        """The remaining seconds."""
        return max(0.0, self.seconds - (time.thread_time() - self._started))

    @property
    def end(self) -> float:
        """The end of the search, as a time of ``time.thread_time``."""
        return self._started + self.seconds

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


@dataclass(frozen=True, slots=True)
class CallProblem:
    """A call to find arguments for.

    ``symbolic`` makes it with a function from an unknown's name to its size; ``real`` makes it with real tensors. ``offer`` returns an
    argument for a parameter that has none yet, with its sizes among the unknowns, or None if there is no such parameter; ``guess`` one
    for something that is read of an argument, and ``read`` what the source shows to be read of a parameter. ``names`` are the parameters;
    ``make`` constructs a class, and ``others`` are candidates for its errors alone. ``called`` is the text before the arguments,
    and ``open_parts`` are attributes of the object that its constructor can be given and was not.
    """

    symbolic: Callable[[Arguments, Callable[[str], Any]], object]
    real: Callable[[str], object]
    offer: Callable[[str, Unknowns], Argument | None]
    guess: Callable[[str, Unknowns], Argument] | None = None
    read: Callable[[str], tuple[str, ...]] = lambda name: ()
    names: frozenset[str] = frozenset()
    make: Callable[[type, Unknowns], Argument] | None = None
    others: Callable[[Candidate, Exception], Iterator[Candidate]] | None = None
    called: str = ""
    open_parts: frozenset[str] = frozenset()


def search(problem: CallProblem, start: list[Candidate], budget: SearchBudget) -> Candidate:
    """The first candidate whose real call returns. Raises NotFound, also when ``budget`` is used up."""
    waiting = list(reversed(start))
    tried: set[tuple[str, int]] = set()
    last: BaseException | None = None
    free = FREE_TRIALS
    while waiting:
        candidate = waiting.pop()
        if candidate.identity in tried:
            continue
        tried.add(candidate.identity)
        if not budget.spend():
            break
        error = _try_for_real(problem, candidate, budget.trial_seconds)
        if error is None:
            return candidate
        last = error
        if isinstance(error, (SlowTrial, CrashedBefore)):
            waiting.extend(smaller(candidate))
            waiting.extend(problem.others(candidate, error) if problem.others is not None else ())
            continue
        if free and any(wanted.kind in ("attribute", "key") and wanted.value for wanted in requirements(error)):
            free -= 1
            budget.trials += 1  # each adds a value that a configuration lacks, and fails at once
        if not budget.left or isinstance(error, ImportError):
            break  # no other argument makes a module be there
        is_number_called = is_of_object(error) and not any(candidate.arguments.plain())
        if is_number_called or needs_one_of(problem.open_parts, error):
            raise NotFound(sentence_of(error), of_object=error)
        enlarged = next(larger(candidate), None) if is_too_small(error) else None
        if enlarged is not None:
            waiting.append(enlarged)  # that is certain, and a deep model takes long
            continue
        # symbolic sizes take longer: they are used only now, to learn which of them are wrong
        trial = attempt(candidate.unknowns, functools.partial(_symbolic, problem, candidate, budget.trial_seconds))
        following = itertools.takewhile(
            lambda _: budget.left > 0, _next(problem, candidate, error, trial.conditions, budget.end)
        )
        found = list(itertools.islice(following, MAX_FOLLOWING))
        failure = (sentence_of(error), failing_place(error))
        if failure == candidate.failure:
            waiting[:0] = reversed(found)  # what led here has changed nothing: what follows comes last
        else:
            waiting += reversed(found)
        for each in found:
            each.failure = failure
    raise NotFound(sentence_of(last), error=last)


def _try_for_real(problem: CallProblem, candidate: Candidate, seconds: float) -> Exception | None:
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
        return RuntimeError(f"it ended the program with sys.exit({end.code!r})")
    except Exception as error:  # code of the user's may raise anything
        return error
    return None


def _symbolic(problem: CallProblem, candidate: Candidate, seconds: float, size: Callable[[str], Any]) -> object:
    with at_most(seconds, SlowTrial), in_progress.making(f"{problem.called}({candidate.text})"):
        return problem.symbolic(candidate.arguments, size)


def _next(
    problem: CallProblem, candidate: Candidate, error: Exception, conditions: tuple[SizeCondition, ...], end: float
) -> Iterator[Candidate]:
    """Candidates that may avoid an error: first what its message clearly requires, then its conditions on sizes, then other ranks."""
    if _TENSOR_WANTED.search(str(error)):
        return  # what reads keys of an argument and uses it as a tensor gets neither
    wanted = list(dict.fromkeys(requirements(error)))
    if problem.others is not None:
        yield from problem.others(candidate, error)
    for requirement in wanted:
        if requirement.kind == "key" and _OF_NAMED.search(failing_line(error)):
            yield from _satisfying(problem, candidate, Requirement("argument", requirement.value))
    if problem.guess is not None:
        for requirement in wanted:
            if requirement.kind in ("attribute", "key", "several", "pair", "tensor", "number"):
                yield from with_structure(candidate, requirement, error, problem.guess, problem.read)
    if problem.make is not None:
        yield from with_required_class(candidate, error, problem.make)
    for requirement in wanted:
        if requirement.kind in ("callable", "module"):
            yield from with_callable(candidate, requirement, error)
        elif requirement.kind == "function":
            yield from with_function(candidate, error)
    if any(w.kind == "fractions" for w in wanted):
        yield from _of_fractions(candidate)
    yield from with_other_value(candidate, error)
    yield from with_other_length(candidate, error)
    definite = [w for w in wanted if w.kind in ("no-argument", "argument", "mentioned", "dtype", "below")]
    for requirement in wanted:
        if requirement.kind == "alike":
            yield from alike(candidate, requirement.value)
    for requirement in definite:
        yield from _satisfying(problem, candidate, requirement)
    for requirement in wanted:
        if requirement.kind == "more-dims":
            yield from of_other_rank(candidate, int(requirement.value))
        elif requirement.kind == "batch":
            yield from of_several(candidate)
    is_about_rank = any(w.kind == "rank" for w in wanted)
    if is_about_rank:
        ranks = [int(w.value) for w in wanted if w.kind == "rank"]
        for rank in ranks:
            yield from of_rank(candidate, rank, False, is_about_states=_STATES.search(str(error)) is not None)
    if any(w.kind == "larger" for w in wanted):
        yield from larger(candidate)
    for condition in by_relevance(conditions)[:MAX_CONDITIONS]:
        for negated in (candidate.negated, ()):
            found = next(iter(solutions(candidate.unknowns, condition, negated, end)), None)
            if found is not None:
                if negated is not candidate.negated:
                    yield from _split(candidate, condition)
                yield with_values(candidate, found, (*negated, condition))
                break
    for requirement in wanted:
        if requirement.kind == "size":
            yield from _satisfying(problem, candidate, requirement)
    if not is_about_rank:
        for rank in OTHER_RANKS:
            yield from _satisfying(problem, candidate, Requirement("rank", str(rank)), only_unknown_ranks=True)
    yield from _other_kinds(candidate)
    yield from with_small_model(candidate)


def _satisfying(
    problem: CallProblem, candidate: Candidate, requirement: Requirement, only_unknown_ranks: bool = False
) -> Iterator[Candidate]:
    if requirement.kind == "argument" or (requirement.kind == "mentioned" and requirement.value in problem.names):
        unknowns = copy.deepcopy(candidate.unknowns)
        offered = (
            problem.offer(requirement.value, unknowns) if candidate.arguments.get(requirement.value) is None else None
        )
        if offered is not None:
            yield Candidate(candidate.arguments.with_argument(requirement.value, offered), unknowns, candidate.negated)
    elif requirement.kind == "no-argument":
        yield _with(candidate, candidate.arguments.without(requirement.value))
    elif requirement.kind == "dtype":
        for name, tensor in candidate.arguments.tensors():
            if tensor.dtype != requirement.value and _is_other_kind(tensor.dtype, requirement.value):
                below = 10 if requirement.value == "int64" else None
                changed = replace(tensor, dtype=requirement.value, below=below, equal=None)
                yield _with(candidate, candidate.arguments.with_argument(name, changed))
    elif requirement.kind == "below":
        limited = candidate.arguments
        for name, tensor in candidate.arguments.tensors():
            if (
                tensor.dtype.startswith("int")
                and tensor.equal is None
                and (tensor.below or 10) > int(requirement.value)
            ):
                changed = replace(tensor, below=int(requirement.value))
                yield _with(candidate, candidate.arguments.with_argument(name, changed))
                limited = limited.with_argument(name, changed)
        if limited is not candidate.arguments:
            yield _with(candidate, limited)
    elif requirement.kind == "rank":
        yield from of_rank(candidate, int(requirement.value), only_unknown_ranks)
    elif requirement.kind == "size":
        got, want = map(int, requirement.value.split())
        for name, unknown in candidate.unknowns.by_name.items():
            if unknown.value == got and not unknown.fixed and want > 0:
                values = {**candidate.unknowns.values, name: want}
                if any(condition.holds(values) is condition.outcome for condition in candidate.negated):
                    yield from _apart(candidate, name, want)  # it would undo what an earlier failure required
                yield with_values(candidate, values, candidate.negated)


def _of_fractions(candidate: Candidate) -> Iterator[Candidate]:
    """Candidates whose numbers are from 0 to 1, as probabilities are: in all tensors, since an error names none of them, and in each."""
    floats = [
        (n, each) for n, each in candidate.arguments.tensors() if each.dtype.startswith("float") and each.below is None
    ]
    every = candidate.arguments
    for name, tensor in floats:
        every = every.with_argument(name, replace(tensor, below=1))
    if floats:
        yield _with(candidate, every)
    for name, tensor in floats if len(floats) > 1 else ():
        yield _with(candidate, candidate.arguments.with_argument(name, replace(tensor, below=1)))


def _split(candidate: Candidate, condition: SizeCondition) -> Iterator[Candidate]:
    """A candidate in which a size that several tensors share for their names alone is another one for each: no value suits all of them."""
    tensors = dict(candidate.arguments.tensors())
    for name in condition.unknowns:
        users = [path for path, tensor in tensors.items() if name in tensor.dims]
        if len(users) < 2 or candidate.unknowns.by_name[name].fixed:
            continue
        arguments, unknowns = candidate.arguments, copy.deepcopy(candidate.unknowns)
        for path in users:
            own = unknowns.get(f"{path}.{name}", unknowns.by_name[name].value).name
            dims = tuple(own if dim == name else dim for dim in tensors[path].dims)
            arguments = arguments.with_argument(path, replace(tensors[path], dims=dims))
        yield Candidate(arguments, unknowns, ())


def _apart(candidate: Candidate, name: str, size: int) -> Iterator[Candidate]:
    """Candidates in which ``size`` is that of one tensor alone, of several that share an unknown for its name: the last one first."""
    users = [(path, tensor) for path, tensor in candidate.arguments.tensors() if name in tensor.dims]
    for path, tensor in reversed(users) if len(users) > 1 else ():
        unknowns = copy.deepcopy(candidate.unknowns)
        own = unknowns.get(f"{path}.{name}", size).name
        changed = replace(tensor, dims=tuple(own if dim == name else dim for dim in tensor.dims))
        yield Candidate(candidate.arguments.with_argument(path, changed), unknowns, candidate.negated)


def _is_other_kind(dtype: str, wanted: str) -> bool:
    """Whether an error that requires ``wanted`` may be about a tensor of ``dtype``: integers become floats, and floats doubles."""
    if wanted == "float64":
        return dtype == "float32"
    return (dtype.startswith("int") or dtype == "bool") if wanted.startswith("float") else True


def _other_kinds(candidate: Candidate) -> Iterator[Candidate]:
    """The last resort: integers instead of floats, one tensor instead of a group."""
    for name, argument in candidate.arguments.named:
        if isinstance(argument, Tensor) and argument.dtype == "float32" and not argument.has_known_rank:
            yield _with(candidate, candidate.arguments.with_argument(name, replace(argument, dtype="int64", below=10)))
        if isinstance(argument, Group) and argument.items and isinstance(argument.items[0], Tensor):
            yield _with(candidate, candidate.arguments.with_argument(name, argument.items[0]))


def _with(candidate: Candidate, arguments: Arguments) -> Candidate:
    return Candidate(arguments, copy.deepcopy(candidate.unknowns), candidate.negated)


def sentence_of(error: BaseException | None) -> str:
    """What an error says, in one line."""
    if error is None:
        return "the time limit was reached before the first call"
    if isinstance(error, (TrialTooLong, CrashedBefore)):
        return str(error)
    first = next((" ".join(line.split()) for line in str(error).splitlines() if line.strip()), "")
    # what was absent names its cause
    kind = "" if isinstance(error, NeedsAbsent) else type(error).__name__
    text = ": ".join(filter(None, (kind, first)))
    return text if len(text) <= 200 else f"{text[:199]}…"
