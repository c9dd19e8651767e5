"""What a run of the benchmarks found, as a JSON file; and which figures grew since an earlier one."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.table.figure import Figure, Of
from benchmarks.table.machine import Machine

VERSION = 1
# what grows by less is noise between two runs on one machine
GROWTH = 1.25


@dataclass(frozen=True, slots=True)
class RowResult:
    """``absent`` says what the machine lacks, ``failed`` why there are no figures though it lacks nothing."""

    name: str
    figures: tuple[Figure, ...] = ()
    seconds: float = 0.0
    absent: str = ""
    failed: str = ""


@dataclass(frozen=True, slots=True)
class Results:
    """One run: a machine, a commit ('' where there is no repository), a day, and a result per row."""

    machine: Machine
    commit: str
    day: str
    rows: tuple[RowResult, ...] = ()

    def with_row(self, row: RowResult, order: tuple[str, ...]) -> Results:
        """These results with ``row`` in the place of what was there for it."""
        rows = [one for one in self.rows if one.name != row.name]
        return replace(self, rows=tuple(sorted([*rows, row], key=lambda one: order.index(one.name))))


@dataclass(frozen=True, slots=True)
class Growth:
    """A figure that got worse."""

    row: str
    case: str
    before: float
    now: float

    @property
    def sentence(self) -> str:
        return f"{self.row}, {self.case}: {self.before:.3g} → {self.now:.3g} ({self.now / self.before - 1:+.0%})"


def grown(before: Results, now: Results) -> list[Growth]:
    """The figures of ``now`` that are more than a quarter above those of ``before``: ratios, and values where both were made on
    the same kind of machine."""
    is_same = before.machine.name == now.machine.name
    earlier = {(row.name, figure.case): figure for row in before.rows for figure in row.figures}
    found = []
    for row in now.rows:
        for figure in row.figures:
            old = earlier.get((row.name, figure.case))
            if old is None or not (is_same or (figure.of is Of.RATIO and figure.ratio is not None)):
                continue
            if old.of is figure.of and 0 < old.judged * GROWTH < figure.judged:
                found.append(Growth(row.name, figure.case, old.judged, figure.judged))
    return found


def write(results: Results, file: Path) -> None:
    """Write the results; JSON has each ratio and verdict, too, for who reads it with another program."""
    content: dict[str, Any] = {"version": VERSION, **asdict(results)}
    for row, found in zip(results.rows, content["rows"], strict=True):
        for figure, as_json in zip(row.figures, found["figures"], strict=True):
            as_json |= {"ratio": figure.ratio, "verdict": figure.verdict.value}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read(file: Path) -> Results:
    """Read what ``write`` wrote. Raises ValueError for another version."""
    content = json.loads(file.read_text(encoding="utf-8"))
    if content["version"] != VERSION:
        raise ValueError(f"{file} is of version {content['version']}, not {VERSION}")
    return Results(Machine(**content["machine"]), content["commit"], content["day"], tuple(_rows(content["rows"])))


def _rows(rows: Iterable[dict[str, Any]]) -> Iterable[RowResult]:
    for row in rows:
        figures = tuple(figure_from(figure) for figure in row["figures"])
        yield RowResult(**{**row, "figures": figures})


def figure_from(found: dict[str, Any]) -> Figure:
    """The figure of a JSON object."""
    own = {name: value for name, value in found.items() if name not in ("ratio", "verdict")}
    return Figure(**{**own, "of": Of(own["of"])})
