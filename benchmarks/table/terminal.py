"""Prints rows as they are measured, and what came of all."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from benchmarks.table.figure import Figure, Verdict, shown
from benchmarks.table.results import Growth, Results, RowResult
from benchmarks.table.rows import Row

STYLES = {Verdict.MET: "green", Verdict.MISSED: "red", Verdict.NONE: ""}
COLUMNS = ("", "measured", "baseline", "ratio", "goal", "verdict")


def cells(figure: Figure) -> tuple[str, ...]:
    """A figure as the cells of a table: case, value, baseline, ratio, goal, verdict."""
    baseline = "" if figure.baseline is None else shown(figure.baseline, figure.unit)
    ratio = figure.ratio
    return (
        figure.case,
        shown(figure.value, figure.unit),
        f"{baseline} ({figure.beside})" if baseline and figure.beside else baseline,
        "" if ratio is None else f"{ratio:.2f}×" if ratio >= 0.1 else f"{ratio:.3f}×",
        figure.goal_text,
        figure.verdict.value,
    )


def show_row(console: Console, row: Row, found: RowResult) -> None:
    """Print one row."""
    console.print(f"\n[bold]{row.name}[/bold]: {row.what} [dim]({found.seconds:.0f} s)[/dim]", highlight=False)
    if found.absent:
        console.print(f"  not measured: {found.absent}", highlight=False, markup=False)
    elif found.failed:
        console.print("  failed:", style="red")
        console.print(found.failed, highlight=False, markup=False)
    else:
        table = Table(box=None, padding=(0, 2), header_style="dim")
        for column in COLUMNS:
            table.add_column(column)
        for figure in found.figures:
            table.add_row(*cells(figure), style=STYLES[figure.verdict])
        console.print(table)
        for figure in found.figures:
            if figure.note:
                console.print(f"  {figure.case}: {figure.note}", highlight=False, markup=False)


def show_summary(console: Console, now: Results, growth: list[Growth] | None) -> None:
    """Print how many goals are met, and what grew since the results before (None: there are none)."""
    verdicts = [figure.verdict for row in now.rows for figure in row.figures]
    absent, failed = (sum(bool(getattr(row, name)) for row in now.rows) for name in ("absent", "failed"))
    console.print(
        f"{verdicts.count(Verdict.MET)} goals met, {verdicts.count(Verdict.MISSED)} missed; "
        f"rows not measured here: {absent}, failed: {failed}",
        highlight=False,
    )
    if growth is None:
        return
    if not growth:
        console.print("No figure grew by more than 25 % since the results before.", highlight=False)
    for one in growth:
        console.print(f"Grew by more than 25 %: {one.sentence}", style="yellow", highlight=False)
