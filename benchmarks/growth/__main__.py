"""``python -m benchmarks.growth``: measures how costs grow, prints exponents, and draws docs/images/growth-*.svg."""

from __future__ import annotations

from pathlib import Path

import click

from benchmarks.growth import texts, traces
from benchmarks.growth.draw import draw

MEASURED = {
    "file-length": texts.file_length,
    "findings": traces.findings,
    "ranks": traces.ranks,
    "trace": traces.trace_size,
    "open-files": texts.open_files,
}
IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--only", "names", multiple=True, type=click.Choice(list(MEASURED)), help="Measure this one only; may be repeated."
)
@click.option("--draw/--no-draw", "draws", default=True, help="Draw the plots (needs matplotlib).  [default: draw]")
def main(names: tuple[str, ...], draws: bool) -> None:
    """Measure, in processor time, and print each exponent: 1 is linear."""
    for name in names or MEASURED:
        plot = MEASURED[name]()
        for series in plot.series:
            points = ", ".join(f"{x:g}: {y:.3g}" for x, y in series.points)
            verdict = "" if series.is_at_most_linear else "  WORSE THAN LINEAR"
            click.echo(f"{name}, {series.name}: exponent {series.exponent:.2f}{verdict}\n    {series.unit}: {points}")
        if draws:
            draw(plot, IMAGES / plot.image)


if __name__ == "__main__":
    main()
