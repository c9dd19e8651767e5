"""Finds regions that are split into graphs of a few operations each, which cost more to launch than to compute."""

from __future__ import annotations

from collections.abc import Iterator

from compile_lens.analysis.finding import Finding, Kind, Place, Severity
from compile_lens.analysis.run_context import RunContext
from compile_lens.syntax.regions import Region
from compile_lens.trace.report import Compilation

CODE = "small-graphs"
FEW_OPS = 2
FEWEST_GRAPHS = 4
# a smaller region is covered by its graph breaks
FEWEST_OPS = 20


def find_small_graphs(context: RunContext) -> Iterator[Finding]:
    """One finding per region of at least four graphs and twenty operations, half of whose graphs or more have at most two."""
    report, index = context.report, context.index
    graphs: dict[Region, list[Compilation]] = {}
    for compilation in report.compilations:
        region = index.of(compilation)
        if region is not None and compilation.graphs and compilation.recompile is None and compilation.ops is not None:
            graphs.setdefault(region, []).append(compilation)
    for region, compilations in graphs.items():
        small = [compilation for compilation in compilations if (compilation.ops or 0) <= FEW_OPS]
        ops = sum(compilation.ops or 0 for compilation in compilations)
        if len(compilations) >= FEWEST_GRAPHS and ops >= FEWEST_OPS and 2 * len(small) >= len(compilations):
            yield Finding(
                code=CODE,
                kind=Kind.PERFORMANCE,
                severity=Severity.HINT,
                message=(
                    f"{len(small)} of the {len(compilations)} graphs of `{region.name}` have at most {FEW_OPS} operations, with"
                    " little to fuse."
                ),
                place=Place(index.file, region.line, region.column, region.end_line, region.end_column),
                explanation="Each graph has its own guards and launches. Remove the graph breaks between them first.",
                frames=tuple(compilation.compile_id for compilation in small),
            )
