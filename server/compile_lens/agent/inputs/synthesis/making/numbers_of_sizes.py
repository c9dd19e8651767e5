"""Numbers of a constructor by what an error says of the sizes of its object: equal ones, kernels that take nothing, larger ones."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from ..changes.other_shapes import with_values
from ..errors.messages import is_of_nothing
from ..terms.candidate import Candidate
from ..trying.solved_numbers import compared_sizes

# by how much a number is larger
TIMES_LARGER = (8, 64)


def with_equal_sizes(candidate: Candidate, error: BaseException) -> Iterator[Candidate]:
    """Candidates in which a number that makes one of two compared sizes is the other one."""
    for one, other in compared_sizes(error):
        for got, want in ((one, other), (other, one)):
            values = candidate.unknowns.values
            for name in (name for name, value in values.items() if value == got and want > 1):
                yield with_values(candidate, {**values, name: want}, candidate.negated)


def with_kernels_of_one(candidate: Candidate, error: BaseException) -> Iterator[Candidate]:
    """Candidates with 1 for a kernel that takes from a side what two lack to be equal: one of 3 without padding leaves 30 of 32."""
    values = candidate.unknowns.values
    for one, other in compared_sizes(error):
        for name in (name for name, value in values.items() if value - 1 == abs(one - other) > 0):
            yield with_values(candidate, {**values, name: 1}, candidate.negated)


def with_larger_sizes(candidate: Candidate, error: BaseException) -> Iterator[Candidate]:
    """Candidates with one size larger, where the object computed none of it: `window // 300` is 0."""
    values = candidate.unknowns.values
    for times, name in itertools.product(TIMES_LARGER, values) if is_of_nothing(error) else ():
        yield with_values(candidate, {**values, name: values[name] * times}, candidate.negated)
