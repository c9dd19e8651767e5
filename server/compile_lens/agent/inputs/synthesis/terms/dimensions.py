"""Unknown sizes, the conditions on them that a trial evaluated, and integers that satisfy them.

A trial runs with symbolic sizes (``torch.fx.experimental.symbolic_shapes``). Every condition on them that torch or the program
evaluates is recorded with its outcome: ``Eq(s1, 64)`` was false, and then an error was raised. The solver looks for integers that
negate the condition, so it learns of a mismatch from torch's own arithmetic, not from the message.
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

from ....torch_internals.core import PYTHON_PRINTER

_T = TypeVar("_T")
MAX_SIZE = 2048
# sizes that programs are written for come before those that merely satisfy a condition
COMMON_SIZES = (
    2,
    16,
    64,
    32,
    8,
    4,
    3,
    128,
    224,
    256,
    512,
    28,
    96,
    112,
    10,
    5,
    6,
    7,
    12,
    24,
    48,
    20,
    100,
    384,
    768,
    1024,
)
# pairs of sizes that are tried when no single one satisfies a condition
MAX_PAIRS = 2_500


@dataclass(slots=True)
class Unknown:
    """A size to be found. ``value`` is the current one; ``fixed`` where the source gives it, such as a number in an annotation."""

    name: str
    value: int
    fixed: bool = False


@dataclass(frozen=True, slots=True)
class SizeCondition:
    """A condition on unknowns that was evaluated, as Python: ``s1 == 64``. ``names`` maps its variables to unknowns."""

    code: str
    names: tuple[tuple[str, str], ...]
    outcome: bool

    def holds(self, values: Mapping[str, int]) -> bool | None:
        """Its outcome for ``values``, or None where it has none (a division by zero)."""
        try:
            return bool(
                _compiled(self.code, tuple(v for v, _ in self.names))(*(values[name] for _, name in self.names))
            )
        except (
            ArithmeticError,
            AttributeError,
            NameError,
            SyntaxError,
            TypeError,
            ValueError,
        ):  # not all of sympy is Python
            return None

    @property
    def unknowns(self) -> tuple[str, ...]:
        """The names of the unknowns in it."""
        return tuple(name for _, name in self.names)

    @property
    def numbers(self) -> tuple[int, ...]:
        """The integers that are written in it: 64 in ``s1 == 64``."""
        return tuple(
            int(word) for word in "".join(c if c.isdecimal() else " " for c in self._without_names).split() if word
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
    """A sympy expression as Python, or None if torch cannot print it."""
    printer = PYTHON_PRINTER.get()
    try:
        return None if printer is None else str(printer().doprint(expression))
    except (AttributeError, NotImplementedError, TypeError, ValueError):
        return None


@dataclass(slots=True)
class Unknowns:
    """The unknown sizes of one problem by name, in the order in which they were found."""

    by_name: dict[str, Unknown] = field(default_factory=dict)

    def get(self, name: str, value: int, fixed: bool = False) -> Unknown:
        """The unknown ``name``; added with ``value`` if there is none."""
        known = self.by_name.get(name)
        if known is None:
            known = self.by_name[name] = Unknown(name, value, fixed)
        return known

    @property
    def values(self) -> dict[str, int]:
        """The current value of each."""
        return {name: unknown.value for name, unknown in self.by_name.items()}

    def assign(self, values: Mapping[str, int]) -> None:
        """Set the values of unknowns."""
        for name, value in values.items():
            self.by_name[name].value = value


def solutions(
    unknowns: Unknowns, wanted: SizeCondition, kept: Iterable[SizeCondition], end: float = math.inf
) -> Iterator[dict[str, int]]:
    """Values that negate ``wanted`` and keep all of ``kept`` negated; the most common sizes first.

    The search ends at ``end``, a time of ``time.thread_time``.
    """
    now = unknowns.values
    required = list(kept)
    free = [name for name in wanted.unknowns if not unknowns.by_name[name].fixed]

    def agrees(values: Mapping[str, int]) -> bool:
        return wanted.holds(values) is (not wanted.outcome) and all(
            condition.holds(values) is (not condition.outcome) for condition in required
        )

    for name in free:
        for size in _until(end, _sizes(wanted, now[name])):
            values = {**now, name: size}
            if agrees(values):
                yield values
                break
    if len(free) < 2 or time.thread_time() > end or not _can_be_negated(wanted, now, free):
        return
    yield from _together(free, wanted, now, agrees, end)


def _can_be_negated(wanted: SizeCondition, now: dict[str, int], free: list[str]) -> bool:
    """Whether the condition depends on the integers at all: torch also evaluates tautologies, which nothing negates."""
    chance = random.Random(0)
    return any(
        wanted.holds({**now, **{name: chance.choice(COMMON_SIZES) * chance.randint(1, 9) for name in free}})
        is not wanted.outcome
        for _ in range(200)
    )


def _until(end: float, values: Iterable[_T]) -> Iterator[_T]:
    return itertools.takewhile(lambda _: time.thread_time() <= end, values)


def _together(
    free: list[str], wanted: SizeCondition, now: dict[str, int], agrees: Any, end: float
) -> Iterator[dict[str, int]]:
    """Changes two unknowns at once: to the same size first, as for the sides of an image, then to any pair."""
    for one, other in itertools.combinations(free[:4], 2):
        for size in _until(end, _sizes(wanted, now[one])):
            values = {**now, one: size, other: size}
            if agrees(values):
                yield values
                break
    for one, other in itertools.combinations(free[:3], 2):
        sizes = list(itertools.islice(_sizes(wanted, now[one]), int(MAX_PAIRS**0.5)))
        for first, second in _until(end, itertools.product(sizes, sizes)):
            values = {**now, one: first, other: second}
            if agrees(values):
                yield values
                break


def _sizes(wanted: SizeCondition, now: int) -> Iterator[int]:
    """Sizes to try: those in the condition, common ones, then all; 1 last, since it broadcasts."""
    seen = {now, 1}
    for size in itertools.chain(wanted.numbers, COMMON_SIZES, range(2, MAX_SIZE)):
        if size > 1 and size not in seen:
            seen.add(size)
            yield size
    if now != 1:
        yield 1


def by_relevance(conditions: Iterable[SizeCondition]) -> list[SizeCondition]:
    """``conditions`` (newest first) without duplicates; those about 0 or 1 last."""
    return sorted(dict.fromkeys(conditions), key=_is_about_0_or_1)


def _is_about_0_or_1(condition: SizeCondition) -> bool:
    """Whether it is about an empty or broadcast dimension: torch checks that everywhere."""
    numbers = condition.numbers
    return bool(numbers) and all(number in (0, 1) for number in numbers)
