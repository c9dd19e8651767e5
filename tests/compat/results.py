"""What was tried with one torch on one Python, and how it came out; kept as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from tests.compat.environments import numbers

FILE = Path(__file__).with_name("results.json")


@dataclass(frozen=True, slots=True)
class Deviation:
    """What came out otherwise than with the torch that the tests were written for.

    ``lacks`` and ``has`` are findings of a fixture, ``LINE CODE``, separated by commas; ``has`` of other checks is a sentence.
    """

    program: str
    lacks: str = ""
    has: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """One kind of check: how many were tried, and what came out otherwise. ``left_out`` says what could not be tried, and why."""

    name: str
    tried: int
    deviations: tuple[Deviation, ...] = ()
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """All checks of one torch on one Python. ``failure``: why there are none."""

    torch: str
    python: str
    checks: tuple[Check, ...] = ()
    failure: str = ""


def load() -> list[Result]:
    """The results so far."""
    if not FILE.exists():
        return []
    return [
        Result(row["torch"], row["python"], tuple(map(_check, row["checks"])), row["failure"])
        for row in json.loads(FILE.read_text(encoding="utf-8"))
    ]


def _check(row: dict[str, object]) -> Check:
    fields: dict[str, object] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in row.items()
    }
    deviations = tuple(Deviation(**each) for each in fields.pop("deviations"))  # type: ignore[attr-defined]
    return Check(**fields, deviations=deviations)  # type: ignore[arg-type]


def store(new: Sequence[Result]) -> None:
    """Keep each check of ``new`` in place of what was known of the same versions; a failure to install says nothing new."""
    known = {_versions(result): result for result in load()}
    for result in new:
        before = known.get(_versions(result), result)
        if result.failure and before.checks:
            continue
        again = {check.name for check in result.checks}
        kept = tuple(check for check in before.checks if check.name not in again)
        known[_versions(result)] = replace(result, checks=kept + result.checks)
    rows = [asdict(known[versions]) for versions in sorted(known)]
    FILE.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _versions(result: Result) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return numbers(result.torch), numbers(result.python)
