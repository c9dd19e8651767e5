"""Looks for arguments under which a call comes back: try, see what was in the way, change that, try again."""

from __future__ import annotations

import copy
import functools
import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from .arguments import Argument, Arguments, Group, Tensor
from .dimensions import Question, Unknowns, answers, telling
from .messages import Wants, wishes
from .trial import attempt, quiet

OTHER_RANKS = (3, 4, 2, 5, 1)
# what one failure may lead to, and the questions that are turned round for it: an answer takes a search of its own
MOST_NEXT = 14
MOST_TELLING = 8


class NotFound(Exception):
    """No arguments were found; its message says in one sentence what stood in the way last."""


@dataclass(slots=True)
class Budget:
    """What a search may cost: ``trials`` calls, and ``seconds`` of wall clock. It ends when either is used up."""

    trials: int = 60
    seconds: float = 20.0
    _started: float = field(default_factory=time.monotonic)

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return max(0.0, self.seconds - (time.monotonic() - self._started))

    @property
    def end(self) -> float:
        """When it is used up, as ``time.monotonic`` tells."""
        return self._started + self.seconds

    def spend(self) -> bool:
        """Take one trial; False when there is none left."""
        if self.trials <= 0 or not self.left:
            return False
        self.trials -= 1
        return True


@dataclass(slots=True)
class State:
    """Arguments, the unknowns in them, and what was turned round to come here."""

    arguments: Arguments
    unknowns: Unknowns
    turned: tuple[Question, ...] = ()

    @property
    def text(self) -> str:
        """The arguments as they would be written now."""
        values = self.unknowns.values
        return self.arguments.render(lambda name: str(values[name]))


@dataclass(frozen=True, slots=True)
class Problem:
    """A call to find arguments for.

    ``symbolic`` makes it with a function from an unknown's name to its size; ``real`` makes it for good. ``offer`` gives an argument
    for a parameter that is not given yet, with its sizes among the unknowns, or None if there is no such parameter.
    """

    symbolic: Callable[[Arguments, Callable[[str], Any]], object]
    real: Callable[[str], object]
    offer: Callable[[str, Unknowns], Argument | None]


def search(problem: Problem, start: list[State], budget: Budget) -> State:
    """The first state whose real call comes back. Raises NotFound; ends when ``budget`` is used up."""
    waiting = list(reversed(start))
    seen: set[str] = set()
    last: BaseException | None = None
    while waiting:
        state = waiting.pop()
        if state.text in seen:
            continue
        seen.add(state.text)
        if not budget.spend():
            break
        error = _really(problem, state)
        if error is None:
            return state
        last = error
        if not budget.left:
            break
        # only now with symbolic sizes, which take longer: to learn which of them were in the way
        trial = attempt(state.unknowns, functools.partial(problem.symbolic, state.arguments))
        following = itertools.takewhile(
            lambda _: budget.left > 0, _next(problem, state, error, trial.questions, budget.end)
        )
        waiting += reversed(list(itertools.islice(following, MOST_NEXT)))
    raise NotFound(_sentence(last))


def _really(problem: Problem, state: State) -> Exception | None:
    try:
        with quiet():
            problem.real(state.text)
    except Exception as error:
        return error
    return None


def _next(
    problem: Problem, state: State, error: Exception, questions: tuple[Question, ...], end: float
) -> Iterator[State]:
    """States that answer an error: first what its words ask for beyond doubt, then its arithmetic, then other ranks."""
    wanted = list(dict.fromkeys(wishes(error)))
    definite = [w for w in wanted if w.kind in ("no-argument", "argument", "dtype", "below")]
    for wish in definite:
        yield from _granted(problem, state, wish)
    is_about_rank = any(w.kind == "rank" for w in wanted)
    if is_about_rank:
        for wish in wanted:
            if wish.kind == "rank":
                yield from _granted(problem, state, wish)
    for question in telling(questions)[:MOST_TELLING]:
        for turned in (state.turned, ()):
            found = next(iter(answers(state.unknowns, question, turned, end)), None)
            if found is not None:
                yield _with_values(state, found, (*turned, question))
                break
    for wish in wanted:
        if wish.kind == "size":
            yield from _granted(problem, state, wish)
    if not is_about_rank:
        for rank in OTHER_RANKS:
            yield from _granted(problem, state, Wants("rank", str(rank)), only_loose=True)
    yield from _other_kinds(state)


def _granted(problem: Problem, state: State, wish: Wants, only_loose: bool = False) -> Iterator[State]:
    if wish.kind == "argument":
        unknowns = copy.deepcopy(state.unknowns)
        offered = problem.offer(wish.value, unknowns) if state.arguments.get(wish.value) is None else None
        if offered is not None:
            yield State(state.arguments.give(wish.value, offered), unknowns, state.turned)
    elif wish.kind == "no-argument":
        yield _with(state, state.arguments.without(wish.value))
    elif wish.kind == "dtype":
        for name, tensor in state.arguments.tensors():
            if tensor.dtype != wish.value and _is_other_kind(tensor.dtype, wish.value):
                below = 10 if wish.value == "int64" else None
                changed = replace(tensor, dtype=wish.value, below=below, equal=None)
                yield _with(state, state.arguments.give(name, changed))
    elif wish.kind == "below":
        limited = state.arguments
        for name, tensor in state.arguments.tensors():
            if tensor.dtype.startswith("int") and tensor.equal is None and (tensor.below or 10) > int(wish.value):
                changed = replace(tensor, below=int(wish.value))
                yield _with(state, state.arguments.give(name, changed))
                limited = limited.give(name, changed)
        if limited is not state.arguments:
            yield _with(state, limited)
    elif wish.kind == "rank":
        yield from _of_rank(state, int(wish.value), only_loose)
    elif wish.kind == "size":
        got, want = map(int, wish.value.split())
        for name, unknown in state.unknowns.by_name.items():
            if unknown.value == got and not unknown.fixed and want > 0:
                yield _with_values(state, {**state.unknowns.values, name: want}, state.turned)


def _is_other_kind(dtype: str, wanted: str) -> bool:
    """Whether a tensor of ``dtype`` may be what an error about ``wanted`` is about: floats become integers, and so on."""
    return (dtype.startswith("int") or dtype == "bool") if wanted.startswith("float") else True


def _of_rank(state: State, rank: int, only_loose: bool) -> Iterator[State]:
    """The tensors with ``rank`` dimensions: one after the other, then all at once."""
    everywhere = state
    for name, tensor in state.arguments.tensors():
        if len(tensor.dims) == rank or (only_loose and tensor.firm):
            continue
        yield _reshaped(state, name, tensor, rank)
        everywhere = _reshaped(everywhere, name, tensor, rank)
    if len(list(state.arguments.tensors())) > 1:
        yield everywhere


def _reshaped(state: State, name: str, tensor: Tensor, rank: int) -> State:
    """Dimensions are put in, or left out, between the first two and the last, whose meaning is kept."""
    unknowns = copy.deepcopy(state.unknowns)
    dims = list(tensor.dims)
    while len(dims) > rank:
        dims.pop(-2 if len(dims) > 2 else -1)
    while len(dims) < rank:
        new = unknowns.get(f"{name}_{rank}_{len(dims)}", 8 if len(dims) < 4 else 4).name
        # a fourth dimension is most often an image's: (B, C, H, W)
        dims.insert(len(dims) if rank >= 4 else max(len(dims) - 1, 0), new)
    arguments = state.arguments.give(name, replace(tensor, dims=tuple(dims)))
    return State(arguments, unknowns, ())


def _other_kinds(state: State) -> Iterator[State]:
    """The last resort: a float tensor as integers, a group as one tensor."""
    for name, argument in state.arguments.named:
        if isinstance(argument, Tensor) and argument.dtype == "float32" and not argument.firm:
            yield _with(state, state.arguments.give(name, replace(argument, dtype="int64", below=10)))
        if isinstance(argument, Group) and argument.items and isinstance(argument.items[0], Tensor):
            yield _with(state, state.arguments.give(name, argument.items[0]))


def _with(state: State, arguments: Arguments) -> State:
    return State(arguments, copy.deepcopy(state.unknowns), state.turned)


def _with_values(state: State, values: dict[str, int], turned: tuple[Question, ...]) -> State:
    unknowns = copy.deepcopy(state.unknowns)
    unknowns.take(values)
    return State(state.arguments, unknowns, turned)


def _sentence(error: BaseException | None) -> str:
    if error is None:
        return "there was no time to try"
    first = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    text = f"{type(error).__name__}: {first}" if first else type(error).__name__
    return text if len(text) <= 200 else f"{text[:199]}…"
