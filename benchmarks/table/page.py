"""Writes docs/performance.md from the results that are kept: a table for each machine, and the reason where a goal is missed."""

from __future__ import annotations

from pathlib import Path

from benchmarks.table import results
from benchmarks.table.figure import Verdict
from benchmarks.table.reasons import REASONS
from benchmarks.table.results import Results, RowResult
from benchmarks.table.rows import ROWS
from benchmarks.table.scale_plots import PLOTS
from benchmarks.table.terminal import cells

HEAD = """\
# Performance

`make bench` measures this table; `python -m benchmarks --row NAME` measures one row, `--list` names them. Each figure has a baseline of
the same run, so ratios count more than seconds. The command compares with the results before and prints what grew by more than 25 %.
"""
PLOT_HEAD = """\
## Growth

`python -m benchmarks.growth` draws these plots. The exponent is fitted to the measured points: 1 is linear. Times are of a
processor, so other load on the machine changes little.
"""


def write(folder: Path, file: Path) -> None:
    """Write the page from all results in ``folder``."""
    parts = [HEAD]
    missed: set[str] = set()
    for found in sorted(folder.glob("*.json")):
        kept = results.read(found)
        parts.append(_table(kept))
        missed |= {row.name for row in kept.rows if any(one.verdict is Verdict.MISSED for one in row.figures)}
    if missed:
        reasons = [
            f"- **{row.what}** (`{row.name}`): {REASONS[row.name]}" for row in ROWS if row.name in missed & set(REASONS)
        ]
        unknown = sorted(missed - set(REASONS))
        reasons += [f"- `{name}`: not yet profiled." for name in unknown]
        parts.append("\n".join(["## Goals that are missed\n", *reasons, ""]))
    drawn = [plot for plot in PLOTS if (file.parent / "images" / plot.image).exists()]
    if drawn:
        parts.append("\n".join([PLOT_HEAD, *(f"![{plot.title}](images/{plot.image})\n" for plot in drawn)]))
    file.write_text("\n".join(parts), encoding="utf-8")


def _table(kept: Results) -> str:
    commit = f", commit {kept.commit}" if kept.commit else ""
    lines = [
        f"## {kept.machine.gpu or f'{kept.machine.cores} cores'}\n",
        f"{kept.machine.sentence}. {kept.day}{commit}, load before: {kept.machine.load}. "
        "Rows that were not measured then have the figures of earlier runs, which may be of another processor.\n",
        "| what | measured | baseline | ratio | goal | verdict |",
        "|---|---|---|---|---|---|",
    ]
    named = {row.name: row for row in ROWS}
    for row in kept.rows:
        lines += _lines(named[row.name].what, row)
    return "\n".join([*lines, ""])


def _lines(what: str, row: RowResult) -> list[str]:
    if row.absent:
        return [f"| {what} | not measured: {row.absent} | | | | |"]
    if row.failed:
        return [f"| {what} | not measured: the row failed | | | | |"]
    found = []
    for figure in row.figures:
        case, *rest = cells(figure)
        verdict = f"**{rest[-1]}**" if figure.verdict is Verdict.MISSED else rest[-1]
        found.append("| " + " | ".join([f"{what}: {case}" if case else what, *rest[:-1], verdict]) + " |")
    return found
