"""The command ``python -m benchmarks``."""

from __future__ import annotations

import time
from pathlib import Path

import click
from rich.console import Console

from benchmarks.table import page, results, terminal
from benchmarks.table.machine import this_machine
from benchmarks.table.measuring import ROOT, measure, no_results
from benchmarks.table.rows import NAMES, ROWS

KEPT = ROOT / "benchmarks" / "results"
PAGE = ROOT / "docs" / "performance.md"
# of other processes, where figures by the clock are of use
QUIET = 0.5


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--row", "names", multiple=True, metavar="NAME", help="Measure this row only; may be repeated.")
@click.option("--all", "everything", is_flag=True, help="Measure also the rows that are not of the usual run.")
@click.option("--list", "lists", is_flag=True, help="List the rows; measure nothing.")
@click.option(
    "--page", "only_page", is_flag=True, help="Write docs/performance.md from the results kept; measure nothing."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The JSON file.  [default: benchmarks/results/MACHINE.json, and docs/performance.md is written]",
)
@click.option(
    "--compare",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="An earlier JSON file.  [default: what the JSON file had before]",
)
def main(
    names: tuple[str, ...], everything: bool, lists: bool, only_page: bool, out: Path | None, compare: Path | None
) -> None:
    """Measure speed and memory beside baselines of the same run. No figure makes this command fail.

    Rows that were not measured keep the figures that the JSON file has for them.
    """
    console = Console(width=None if Console().is_terminal else 160)
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        raise click.BadParameter(f"no row is named {unknown[0]}. Rows: {', '.join(NAMES)}", param_hint="--row")
    if lists:
        for row in ROWS:
            console.print(f"{row.name:<13} {row.what}{'' if row.usual else ' (with --all)'}", highlight=False)
        return
    if only_page:
        page.write(KEPT, PAGE)
        return
    machine = this_machine()
    console.print(f"{machine.sentence}. Load before: {machine.load}.", highlight=False)
    if machine.load > QUIET:
        console.print("Other processes use this machine: figures by the clock are too high.", style="yellow")
    file = out or KEPT / f"{machine.name}.json"
    before = results.read(compare or file) if (compare or file).exists() else None
    now = no_results(machine)
    if before is not None and names and not compare:
        for row in before.rows:  # of the run before, until they are measured again
            now = now.with_row(row, NAMES)
    patience = max(1.0, machine.load / machine.cores)
    began = time.perf_counter()
    for row in ROWS:
        if row.name in names or (not names and (row.usual or everything)):
            found = measure(row, patience)
            now = now.with_row(found, NAMES)
            results.write(now, file)  # what is measured is kept if the run is ended here
            terminal.show_row(console, row, found)
    console.print(f"\n{time.perf_counter() - began:.0f} s, kept in {file}", highlight=False, soft_wrap=True)
    terminal.show_summary(console, now, results.grown(before, now) if before is not None else None)
    if out is None:
        page.write(KEPT, PAGE)
        console.print(f"Written: {PAGE}", highlight=False, soft_wrap=True)
