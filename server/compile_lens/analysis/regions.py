"""What happened in each compile region of a file: source regions joined with what was compiled."""

from __future__ import annotations

from compile_lens.analysis.finding import Place, RegionSummary
from compile_lens.syntax.definitions import definition_at
from compile_lens.syntax.regions import Region, find_regions
from compile_lens.syntax.tree import SourceTree
from compile_lens.trace.report import Compilation, CompileReport


def summarise_regions(report: CompileReport, file: str, tree: SourceTree | None) -> tuple[RegionSummary, ...]:
    """One summary per region of ``file``, in source order, with what its frames did; zeros for a region that was not reached."""
    if tree is None:
        return ()
    regions = find_regions(tree)
    compiled: dict[Region, list[Compilation]] = {region: [] for region in regions}
    called = {call.region: (call.file, call.line) for call in report.regions}
    for compilation in report.compilations:
        region = _region_of(compilation, called, regions, file, tree)
        if region is not None:
            compiled[region].append(compilation)
    return tuple(_summary(region, compiled[region], file) for region in regions)


def _region_of(
    compilation: Compilation,
    called: dict[int, tuple[str, int]],
    regions: tuple[Region, ...],
    file: str,
    tree: SourceTree,
) -> Region | None:
    if compilation.region is not None:
        called_file, called_line = called.get(compilation.region, ("", 0))
        inside = [r for r in regions if called_file == file and _covers(r, called_line)]
        if inside:
            # the innermost that covers the line: a decorator rather than the class it stands in
            return min(inside, key=lambda region: region.end_line - region.line)
        return None
    return _by_source(compilation, regions, file, tree)


def _covers(region: Region, line: int) -> bool:
    # Python reports a decorator's call at its own line, or (3.8 to 3.10 for some) at the line of the def
    last = (
        region.end_line if region.target_line is None or region.target_line != region.line else region.target_end_line
    )
    return region.line <= line <= (last or region.end_line)


def _by_source(compilation: Compilation, regions: tuple[Region, ...], file: str, tree: SourceTree) -> Region | None:
    """Without notes: the function that a region wraps, by its lines; else the class whose method was compiled, by its name."""
    # a frame of a library, or of another file, belongs to the region whose function or class its callers stand in
    callers = [frame.line for frame in compilation.call_stack if frame.file == file]
    lines = [compilation.line] if compilation.file == file else callers
    for line in reversed(lines):
        for region in regions:
            if region.target_line is not None and region.target_line <= line <= (region.target_end_line or 0):
                return region
        definition = definition_at(tree, line)
        if definition is not None:
            owner = definition.qualified_name.partition(".")[0]
            for region in regions:
                if owner and region.target.partition("(")[0].rpartition(".")[2] == owner:
                    return region
    calls = [region for region in regions if region.target_line is None]
    return calls[0] if len(calls) == 1 else None


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
