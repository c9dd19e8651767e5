"""Compares the gradients that a backward leaves in two runs, which reach them in different orders."""

from __future__ import annotations

import math
from collections.abc import Sequence

from compile_lens.trace.region_results import ResultValue

# of the longest gradient of a backward: what is smaller is rounding, such as the gradient of a bias before a normalization
TOLERANCES = {"float64": 1e-6, "complex128": 1e-6, "float16": 2e-2, "bfloat16": 4e-2}
TOLERANCE = 1e-3


def differing_gradients(expected: Sequence[ResultValue], got: Sequence[ResultValue]) -> str:
    """The first gradient that one backward leaves and the other does not, in a few words; '' where each has its counterpart."""
    longest = max((length for value in (*expected, *got) if math.isfinite(length := _length(value))), default=0.0)
    left = list(got)
    for wanted in expected:
        allowed = _tolerance(wanted) * longest
        alike = [value for value in left if (value.dtype, value.shape) == (wanted.dtype, wanted.shape)]
        nearest = min(alike, key=lambda value: _distance(wanted, value), default=None)
        if nearest is not None and _distance(wanted, nearest) <= allowed:
            left.remove(nearest)
        elif not _length(wanted) <= allowed:
            return f"{type_words(wanted)} is missing" if nearest is None else f"{type_words(wanted)} differs"
    more = next((value for value in left if not _length(value) <= _tolerance(value) * longest), None)
    return f"{type_words(more)} is new" if more is not None else ""


def _tolerance(value: ResultValue) -> float:
    return TOLERANCES.get(value.dtype.removeprefix("torch."), TOLERANCE)


def _length(value: ResultValue) -> float:
    return value.numbers[0] if value.numbers else 0.0


def _distance(one: ResultValue, other: ResultValue) -> float:
    """By how much two gradients differ, at least; two that are both not a number do not."""
    pairs = zip(one.numbers or (), other.numbers or (), strict=True)
    return max((_off(number, now) for number, now in pairs), default=0.0)


def _off(one: float, other: float) -> float:
    if one == other or (math.isnan(one) and math.isnan(other)):
        return 0.0
    off = abs(one - other)
    return off if math.isfinite(off) else math.inf


def type_words(value: ResultValue) -> str:
    """Dtype and shape: ``float32[2, 3]``."""
    return f"{value.dtype.removeprefix('torch.')}[{', '.join(map(str, value.shape))}]"
