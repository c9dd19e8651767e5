"""Differences between versions of torch and Python that were looked at: each row says what comes out otherwise there, and why."""

from __future__ import annotations

from dataclasses import dataclass

from tests.compat.environments import numbers
from tests.compat.results import Deviation, Result

Version = tuple[int, ...]
OLDEST, ANY = (2, 6), (9, 9)


@dataclass(frozen=True, slots=True)
class Difference:
    """From torch ``since`` up to and including ``until`` (on a Python up to ``python_until``), ``program`` comes out otherwise.

    ``lacks`` and ``has`` are those of the ``Deviation``. ``why`` is a sentence for the page. ``ours``: torch does the same as ever, and
    Compile Lens does not show it.
    """

    program: str
    why: str
    lacks: str = ""
    has: str = ""
    since: Version = OLDEST
    until: Version = ANY
    python_until: Version = ANY
    ours: bool = False

    def explains(self, result: Result, deviation: Deviation) -> bool:
        """Whether this is what came out otherwise there."""
        torch, python = numbers(result.torch), numbers(result.python)
        applies = self.since <= torch <= self.until and python <= self.python_until
        return applies and (self.program, self.lacks, self.has) == (deviation.program, deviation.lacks, deviation.has)


def explanation(result: Result, deviation: Deviation) -> Difference | None:
    """The row for it, or None: nobody has looked at it."""
    return next((row for row in DIFFERENCES if row.explains(result, deviation)), None)


def unexplained(result: Result) -> list[Deviation]:
    """What came out otherwise there, and no row says why."""
    return [each for check in result.checks for each in check.deviations if explanation(result, each) is None]


DIFFERENCES: tuple[Difference, ...] = ()
