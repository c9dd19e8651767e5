"""One measured figure beside its baseline and its goal."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Absent(Exception):
    """This machine lacks what a row needs; the text says what."""


class Of(str, Enum):
    """What of a figure its goal limits."""

    VALUE = "value"
    RATIO = "ratio"
    ADDED = "added"


class Verdict(str, Enum):
    """Whether a goal is met. A figure without a goal is there to explain another one."""

    MET = "met"
    MISSED = "missed"
    NONE = ""


@dataclass(frozen=True, slots=True)
class Figure:
    """``case`` tells it from the other figures of its row, in each run. ``baseline`` has the unit of ``value``. Less is better.

    ``note`` says what made the figure what it is.
    """

    case: str
    value: float
    unit: str
    baseline: float | None = None
    beside: str = ""
    goal: float | None = None
    of: Of = Of.RATIO
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """``value`` as a share of the baseline."""
        return self.value / self.baseline if self.baseline else None

    @property
    def judged(self) -> float:
        """The number that the goal limits."""
        if self.of is Of.RATIO and self.ratio is not None:
            return self.ratio
        if self.of is Of.ADDED and self.baseline is not None:
            return self.value - self.baseline
        return self.value

    @property
    def verdict(self) -> Verdict:
        """``MET`` or ``MISSED``, or ``NONE`` where nothing is asked of the figure."""
        if self.goal is None:
            return Verdict.NONE
        return Verdict.MET if self.judged <= self.goal else Verdict.MISSED

    @property
    def goal_text(self) -> str:
        """The goal, as the table shows it."""
        if self.goal is None:
            return ""
        if self.of is Of.RATIO:
            return f"≤ {self.goal:g}×"
        return f"≤ {'+' if self.of is Of.ADDED else ''}{shown(self.goal, self.unit)}"


def shown(value: float, unit: str) -> str:
    """``value`` with its unit, with three digits that count."""
    digits = 0 if abs(value) >= 100 or value == int(value) else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f} {unit}".rstrip()
