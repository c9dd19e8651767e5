"""Summarizes what happened in each compile region of a file, and in each compiled function."""

from __future__ import annotations

from compile_lens.analysis.finding import Place, RegionSummary
from compile_lens.analysis.region_index import RegionIndex
from compile_lens.analysis.sources import Sources
from compile_lens.syntax.definitions import definition_at
from compile_lens.syntax.regions import Region
from compile_lens.trace.report import Compilation, CompileReport


def summarize_regions(report: CompileReport, index: RegionIndex) -> tuple[RegionSummary, ...]:
    """One summary per region, in source order, with what its frames did; zeros for a region that was not reached."""
    compiled: dict[Region, list[Compilation]] = {region: [] for region in index.regions}
    for compilation in report.compilations:
        region = index.of(compilation)
        if region is not None:
            compiled[region].append(compilation)
    return tuple(_summary(region.name, _place(region, index.file), compiled[region]) for region in index.regions)


def summarize_functions(report: CompileReport, sources: Sources) -> tuple[RegionSummary, ...]:
    """One summary per function of the user's that was compiled as a frame of its own, at its name."""
    compiled: dict[tuple[str, Place], list[Compilation]] = {}
    for compilation in report.compilations:
        tree = sources.tree_of(compilation.file) if sources.is_own(compilation.file) else None
        definition = definition_at(tree, compilation.line) if tree is not None else None
        if definition is not None and definition.kind == "function":
            name = definition.name_place
            place = Place(compilation.file, name.line, name.column, name.end_line, name.end_column)
            compiled.setdefault((definition.qualified_name, place), []).append(compilation)
    return tuple(_summary(name, place, compilations) for (name, place), compilations in compiled.items())


def _place(region: Region, file: str) -> Place:
    return Place(file, region.line, region.column, region.end_line, region.end_column)


def _summary(name: str, place: Place, compilations: list[Compilation]) -> RegionSummary:
    return RegionSummary(
        name=name,
        place=place,
        graphs=sum(compilation.graphs for compilation in compilations),
        breaks=sum(len(compilation.breaks) for compilation in compilations),
        recompiles=sum(1 for c in compilations if c.recompile is not None and c.hit_limit is None),
        compile_time_s=sum(compilation.seconds for compilation in compilations),
        frames=tuple(compilation.compile_id for compilation in compilations),
    )
