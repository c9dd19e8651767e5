"""Draws the growth of costs with matplotlib, which only the plots need (the dependency group ``plots``)."""

from __future__ import annotations

from pathlib import Path

from benchmarks.growth.series import FITTED_FROM, Plot


def draw(plot: Plot, file: Path) -> None:
    """Write ``plot`` as SVG, the same bytes for the same points."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "growth", "font.size": 10})
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6.4, 3.6), layout="constrained")
    for series in plot.series:
        x, y = zip(*series.points, strict=True)
        (line,) = axes.loglog(
            x, y, "o-", markersize=4, label=f"{series.name}, {series.unit} (exponent {series.exponent:.2f})"
        )
        largest, cost = series.points[-1]
        ends = (largest * FITTED_FROM, largest)
        axes.loglog(ends, [cost * end / largest for end in ends], ":", color=line.get_color(), alpha=0.6)
    axes.set_xlabel(plot.axis)
    axes.set_title(f"{plot.title} (dotted: linear)", fontsize=10)
    axes.grid(True, which="major", alpha=0.3)
    axes.legend(fontsize=8)
    figure.savefig(file, format="svg", metadata={"Date": None})
    pyplot.close(figure)
