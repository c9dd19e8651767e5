"""What happened in each compile region of a file."""

from __future__ import annotations

from compile_lens.analysis.finding import Place, RegionSummary
from compile_lens.analysis.region_index import RegionIndex
from compile_lens.syntax.regions import Region
from compile_lens.trace.report import Compilation, CompileReport


def summarise_regions(report: CompileReport, index: RegionIndex) -> tuple[RegionSummary, ...]:
    """One summary per region, in source order, with what its frames did; zeros for a region that was not reached."""
    compiled: dict[Region, list[Compilation]] = {region: [] for region in index.regions}
    for compilation in report.compilations:
        region = index.of(compilation)
        if region is not None:
            compiled[region].append(compilation)
    return tuple(_summary(region, compiled[region], index.file) for region in index.regions)


def _summary(region: Region, compilations: list[Compilation], file: str) -> RegionSummary:
    return RegionSummary(
        name=region.name,
        place=Place(file, region.line, region.column, region.end_line, region.end_column),
        graphs=sum(compilation.graphs for compilation in compilations),
        breaks=sum(len(compilation.breaks) for compilation in compilations),
        recompiles=sum(1 for c in compilations if c.recompile is not None and c.hit_limit is None),
        compile_time_s=sum(compilation.seconds for compilation in compilations),
        frames=tuple(compilation.compile_id for compilation in compilations),
    )
