"""Unknown sizes, what was asked about them, and integers that answer it.

A trial runs with symbolic sizes (``torch.fx.experimental.symbolic_shapes``), and every question that torch or the program asks about
them is recorded with its answer: ``Eq(s1, 64)`` was false, and then an error was raised. The solver turns that answer round and looks
for integers that agree, so a mismatch is read from torch's own arithmetic and not from its words.
"""

from __future__ import annotations

import functools
import itertools
import math
import random
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

_T = TypeVar("_T")
LARGEST = 2048
# sizes that programs are written for come before those that merely fit
USUAL = (2, 16, 64, 32, 8, 4, 3, 128, 224, 256, 512, 28, 96, 112, 10, 5, 6, 7, 12, 24, 48, 20, 100, 384, 768, 1024)
# pairs of sizes that are tried when one alone cannot answer
MOST_PAIRS = 2_500


@dataclass(slots=True)
class Unknown:
    """A size to be found. ``value`` is what it is now; ``fixed`` when a source says so, such as a number in an annotation."""

    name: str
    value: int
    fixed: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """A relation between unknowns that was asked, as Python: ``s1 == 64``. ``names`` maps its variables to unknowns."""

    code: str
    names: tuple[tuple[str, str], ...]
    answer: bool

    def holds(self, values: Mapping[str, int]) -> bool | None:
        """Its answer for ``values``, or None where it has none (a division by zero)."""
        try:
            return bool(
                _compiled(self.code, tuple(v for v, _ in self.names))(*(values[name] for _, name in self.names))
            )
        except Exception:
            return None

    @property
    def unknowns(self) -> tuple[str, ...]:
        """The names of the unknowns in it."""
        return tuple(name for _, name in self.names)

    @property
    def numbers(self) -> tuple[int, ...]:
        """The integers that are written in it: 64 in ``s1 == 64``."""
        return tuple(
            int(word) for word in "".join(c if c.isdigit() else " " for c in self._without_names).split() if word
        )

    @property
    def _without_names(self) -> str:
        code = self.code
        for variable, _ in self.names:
            code = code.replace(variable, " ")
        return code


_FUNCTIONS: dict[str, Any] = {
    "math": math,
    "Max": max,
    "Min": min,
    "max": max,
    "min": min,
    "Mod": lambda one, other: one % other,
    "PythonMod": lambda one, other: one % other,
    "FloorDiv": lambda one, other: one // other,
    "CleanDiv": lambda one, other: one // other,
    "floor": math.floor,
    "ceiling": math.ceil,
    "TruncToInt": int,
    "ToFloat": float,
    "IntTrueDiv": lambda one, other: one / other,
    "Eq": lambda one, other: one == other,
    "Ne": lambda one, other: one != other,
}


@functools.cache
def _compiled(code: str, variables: tuple[str, ...]) -> Any:
    return eval(f"lambda {', '.join(variables)}: {code}", dict(_FUNCTIONS))


def as_code(expression: Any) -> str | None:
    """A sympy expression as Python, or None where it cannot be said."""
    try:
        from torch.utils._sympy.printers import PythonPrinter

        return str(PythonPrinter().doprint(expression))
    except Exception:
        return None


@dataclass(slots=True)
class Unknowns:
    """The unknown sizes of one problem by name, in the order in which they were found."""

    by_name: dict[str, Unknown] = field(default_factory=dict)

    def get(self, name: str, value: int, fixed: bool = False) -> Unknown:
        """The unknown ``name``; made with ``value`` if there is none."""
        known = self.by_name.get(name)
        if known is None:
            known = self.by_name[name] = Unknown(name, value, fixed)
        return known

    @property
    def values(self) -> dict[str, int]:
        """The value of each now."""
        return {name: unknown.value for name, unknown in self.by_name.items()}

    def take(self, values: Mapping[str, int]) -> None:
        """Give unknowns new values."""
        for name, value in values.items():
            self.by_name[name].value = value


def answers(
    unknowns: Unknowns, wanted: Question, kept: Iterable[Question], end: float = math.inf
) -> Iterator[dict[str, int]]:
    """Values under which ``wanted`` has the other answer than it had, and all of ``kept`` still hold; the most usual first.

    Nothing is looked for any more after ``end``, a time of ``time.monotonic``.
    """
    now = unknowns.values
    required = list(kept)
    free = [name for name in wanted.unknowns if not unknowns.by_name[name].fixed]

    def agrees(values: Mapping[str, int]) -> bool:
        return wanted.holds(values) is (not wanted.answer) and all(
            question.holds(values) is (not question.answer) for question in required
        )

    for name in free:
        for size in _until(end, _sizes(wanted, now[name])):
            values = {**now, name: size}
            if agrees(values):
                yield values
                break
    if len(free) < 2 or time.monotonic() > end or not _can_turn(wanted, now, free):
        return
    yield from _together(free, wanted, now, agrees, end)


def _can_turn(wanted: Question, now: dict[str, int], free: list[str]) -> bool:
    """Whether the question is anything but a truth about all integers: those are asked, too, and no pair turns them round."""
    chance = random.Random(0)
    return any(
        wanted.holds({**now, **{name: chance.choice(USUAL) * chance.randint(1, 9) for name in free}})
        is not wanted.answer
        for _ in range(200)
    )


def _until(end: float, values: Iterable[_T]) -> Iterator[_T]:
    return itertools.takewhile(lambda _: time.monotonic() <= end, values)


def _together(
    free: list[str], wanted: Question, now: dict[str, int], agrees: Any, end: float
) -> Iterator[dict[str, int]]:
    """Two unknowns at once: the same size for both first, as of an image's sides, then any pair."""
    for one, other in itertools.combinations(free[:4], 2):
        for size in _until(end, _sizes(wanted, now[one])):
            values = {**now, one: size, other: size}
            if agrees(values):
                yield values
                break
    for one, other in itertools.combinations(free[:3], 2):
        sizes = list(itertools.islice(_sizes(wanted, now[one]), int(MOST_PAIRS**0.5)))
        for first, second in _until(end, itertools.product(sizes, sizes)):
            values = {**now, one: first, other: second}
            if agrees(values):
                yield values
                break


def _sizes(wanted: Question, now: int) -> Iterator[int]:
    """Sizes to try: what the question names, what is usual, then all; 1 last, since it broadcasts and says little."""
    seen = {now, 1}
    for size in itertools.chain(wanted.numbers, USUAL, range(2, LARGEST)):
        if size > 1 and size not in seen:
            seen.add(size)
            yield size
    if now != 1:
        yield 1


def telling(questions: Iterable[Question]) -> list[Question]:
    """``questions`` (newest first), each once; what asks for 0 or 1 comes last."""
    return sorted(dict.fromkeys(questions), key=_is_about_a_corner)


def _is_about_a_corner(question: Question) -> bool:
    """Whether it asks if something is empty or broadcasts: torch asks that of everything."""
    numbers = question.numbers
    return bool(numbers) and all(number in (0, 1) for number in numbers)
