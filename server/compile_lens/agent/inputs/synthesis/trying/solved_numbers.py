"""Numbers that are solved for: another one in the place of one tells which of two unequal sizes it is behind, and how.

Most first numbers of a constructor are alike (64), so an error that names two sizes does not tell where they come from: `heads * width`
and `dim`. Nor does it tell which sides of an input make a size, where a program has computed with plain integers.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction

from ..changes.other_shapes import with_values
from ..errors.messages import requirements
from ..terms.candidate import Candidate
from ..terms.dimensions import MAX_SIZE

# numbers up to here are tried twice as large, and up to there three times: what is divided by them, or divides them, often stays whole
_FEW, _SEVERAL = 8, 64
# of products and quotients
_POWERS = (0, 1, 2, -1, -2)
MOST_NUMBERS = 6
# of a product of two numbers, which is tried as these and the rest
_FIRST_FACTORS = (4, 2, 8, 16)


def compared_sizes(error: BaseException) -> list[tuple[int, int]]:
    """Sizes that ``error`` says are not equal and have to be, in pairs."""
    pairs = dict.fromkeys(wanted.value for wanted in requirements(error) if wanted.kind == "size")
    return [(int(one), int(other)) for one, other in (pair.split() for pair in pairs)]


def with_one_changed(candidate: Candidate, among: Iterable[str] | None = None) -> Iterator[tuple[str, Candidate]]:
    """Candidates in which one number is another one, by its name; one of those ``among`` them, or else one that nothing says."""
    values = candidate.unknowns.values
    open_ones = [name for name, each in candidate.unknowns.by_name.items() if not each.fixed]
    numbers = [name for name in (open_ones if among is None else among) if values[name] > 1]
    for name in numbers[:MOST_NUMBERS]:
        yield name, with_values(candidate, {**values, name: _other(values[name])}, candidate.negated)


def with_solved_number(
    candidate: Candidate, name: str, before: BaseException, after: BaseException
) -> Iterator[Candidate]:
    """Candidates in which the two sizes that ``before`` compares are equal by the number ``name``, if that is how they depend on it:
    ``after`` is the same error where the number was another one."""
    if _without_numbers(before) != _without_numbers(after):
        return
    values = candidate.unknowns.values
    now, other = values[name], _other(values[name])
    found: dict[int, None] = {}
    for sizes, changed in zip(compared_sizes(before), compared_sizes(after), strict=False):
        for solved in (_by_powers(now, other, sizes, changed), _by_steps(now, other, sizes, changed)):
            if solved is not None and solved.denominator == 1 and 0 < solved <= MAX_SIZE and solved != now:
                found.setdefault(int(solved))
    for number in found:
        yield with_values(candidate, {**values, name: number}, candidate.negated)


def with_solved_pair(
    candidate: Candidate, before: BaseException, after: Mapping[str, BaseException]
) -> Iterator[Candidate]:
    """Candidates in which two numbers are others, where the sizes that ``before`` compares are equal by no single one: one of the sizes is
    a multiple of the product of both. ``after`` has, by name, the same error where that number was another one."""
    values = candidate.unknowns.values
    for index, sizes in enumerate(compared_sizes(before)):
        factors = [name for name, error in after.items() if _is_factor(values[name], before, error, index)]
        for one, other in itertools.combinations(factors, 2) if sizes[0] else ():
            # what stays is the other factor of the product, and the other size
            product = Fraction(sizes[1] * values[one] * values[other], sizes[0])
            if product.denominator != 1 or not 0 < product <= MAX_SIZE:
                continue
            for size in (*(each for each in _FIRST_FACTORS if product % each == 0), int(product)):
                yield with_values(candidate, {**values, one: size, other: int(product) // size}, candidate.negated)


def _is_factor(number: int, before: BaseException, after: BaseException, index: int) -> bool:
    """Whether the first of two compared sizes grows as ``number`` does, and the second does not."""
    changed = compared_sizes(after)
    if _without_numbers(before) != _without_numbers(after) or index >= len(changed):
        return False
    one, other = (
        _power(number, _other(number), *pair)
        for pair in zip(compared_sizes(before)[index], changed[index], strict=True)
    )
    return one == 1 and other == 0


def _other(number: int) -> int:
    if number <= _FEW:
        return number * 2
    return number * 3 if number <= _SEVERAL else number // 2


def _without_numbers(error: BaseException) -> str:
    return re.sub(r"\d+", "", str(error))


def _by_steps(now: int, other: int, sizes: tuple[int, int], changed: tuple[int, int]) -> Fraction | None:
    """The number for which both sizes are equal, where they grow evenly with it: sums, and a product with what stays."""
    growth = Fraction((changed[0] - sizes[0]) - (changed[1] - sizes[1]), other - now)
    return None if not growth else now + (sizes[1] - sizes[0]) / growth


def _by_powers(now: int, other: int, sizes: tuple[int, int], changed: tuple[int, int]) -> Fraction | None:
    """The same where they are products of its powers: `width * width`, `length // stride`."""
    one, two = (_power(now, other, *pair) for pair in zip(sizes, changed, strict=True))
    if one is None or two is None or one == two or 0 in sizes:
        return None
    ratio = Fraction(sizes[1], sizes[0]) if one > two else Fraction(sizes[0], sizes[1])
    if abs(one - two) == 1:
        return now * ratio
    root = Fraction(round(now * float(ratio) ** (1 / abs(one - two))))
    return root if abs(one - two) == 2 and (root / now) ** 2 == ratio else None


def _power(now: int, other: int, before: int, after: int) -> int | None:
    if not before:
        return None  # of an empty slice
    grown = Fraction(other, now)
    return next((power for power in _POWERS if Fraction(after, before) == grown**power), None)
