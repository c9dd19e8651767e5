"""The plots of growth that docs/performance.md shows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Plot:
    """``image`` is in docs/images."""

    image: str
    title: str


PLOTS = (
    Plot("growth-file-length.svg", "Cost against the length of a file"),
    Plot("growth-findings.svg", "Cost against the number of findings"),
    Plot("growth-ranks.svg", "Cost against the number of ranks"),
    Plot("growth-trace.svg", "Cost and memory against the size of a trace"),
    Plot("growth-open-files.svg", "Memory and cost against the number of open files"),
)
