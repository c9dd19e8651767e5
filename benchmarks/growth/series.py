"""A cost at growing sizes, and the exponent that fits its growth."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

# sizes below this share of the largest are left out of a fit: what a process or an import costs once would hide the growth
FITTED_FROM = 1 / 32
# an exponent above this one is worse than linear, and no noise
MOST = 1.15


@dataclass(frozen=True, slots=True)
class Series:
    """``points`` are sizes and costs in ``unit``, smallest first."""

    name: str
    unit: str
    points: tuple[tuple[float, float], ...]

    @property
    def exponent(self) -> float:
        """The slope of the points in a plot of logarithms, by least squares; 1 is linear."""
        largest = self.points[-1][0]
        fitted = [(math.log(x), math.log(y)) for x, y in self.points if x >= largest * FITTED_FROM and y > 0]
        if len(fitted) < 2:
            return 0.0
        mean_x, mean_y = (sum(column) / len(fitted) for column in zip(*fitted, strict=True))
        above = sum((x - mean_x) * (y - mean_y) for x, y in fitted)
        return above / sum((x - mean_x) ** 2 for x, _ in fitted)

    @property
    def is_at_most_linear(self) -> bool:
        """Whether it grows no worse than its size does."""
        return self.exponent <= MOST


@dataclass(frozen=True, slots=True)
class Plot:
    """Series over one axis, drawn to ``image`` in docs/images."""

    image: str
    title: str
    axis: str
    series: tuple[Series, ...]


def processor_ms(work: Callable[[], object], repeats: int = 3) -> float:
    """The least processor time of some calls of ``work``, in milliseconds."""
    times = []
    for _ in range(repeats):
        began = time.process_time()
        work()
        times.append(1e3 * (time.process_time() - began))
        if times[-1] > 2_000:
            break
    return max(min(times), 1e-3)


def series_of(name: str, sizes: Iterable[int], cost: Callable[[int], float], unit: str = "ms of a processor") -> Series:
    """Measure ``cost`` at each size."""
    return Series(name, unit, tuple((float(size), cost(size)) for size in sizes))
