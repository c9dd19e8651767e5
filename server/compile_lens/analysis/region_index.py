"""Maps compilations to the compile regions of a file."""

from __future__ import annotations

from compile_lens.syntax.definitions import definition_at
from compile_lens.syntax.regions import Region, find_regions
from compile_lens.syntax.tree import SourceTree
from compile_lens.trace.report import Compilation, CompileReport


class RegionIndex:
    """The regions of ``file``, and what of ``report`` belongs to each."""

    def __init__(self, report: CompileReport, file: str, tree: SourceTree | None) -> None:
        self.file = file
        self.regions = find_regions(tree) if tree is not None else ()
        self._tree = tree
        self._called = {call.region: (call.file, call.line, call.column) for call in report.regions}

    @property
    def has_notes(self) -> bool:
        """Whether the trace says which regions were wrapped: one that does not cannot say which were never called."""
        return bool(self._called)

    def of_call(self, number: int) -> Region | None:
        """The region of a ``torch.compile`` call that was noted, if it stands in this file."""
        file, line, column = self._called.get(number, ("", 0, None))
        inside = [region for region in self.regions if file == self.file and _covers(region, line)]
        exact = [region for region in inside if (region.line, region.column) == (line, column)]
        # the innermost that covers the line: a decorator rather than the class it stands in
        return min(exact or inside, key=lambda region: region.end_line - region.line, default=None)

    def may_be_called(self, region: Region) -> bool:
        """Whether a noted call may be the one of ``region``: without columns (Python 3.10), each that its line could have made."""
        return any(
            column is None and file == self.file and _covers(region, line)
            for file, line, column in self._called.values()
        )

    def of(self, compilation: Compilation) -> Region | None:
        """The region that ``compilation`` belongs to: as noted, else as the source suggests."""
        if compilation.region is not None:
            return self.of_call(compilation.region)
        return self._by_source(compilation)

    def _by_source(self, compilation: Compilation) -> Region | None:
        """Without notes: the function that a region wraps, by its lines; else the class whose method was compiled, by its name."""
        if self._tree is None:
            return None
        # a frame of a library, or of another file, belongs to the region whose function or class its callers stand in
        callers = [frame.line for frame in compilation.call_stack if frame.file == self.file]
        lines = [compilation.line] if compilation.file == self.file else callers
        for line in reversed(lines):
            for region in self.regions:
                if region.target_line is not None and region.target_line <= line <= (region.target_end_line or 0):
                    return region
            definition = definition_at(self._tree, line)
            owner = definition.qualified_name.partition(".")[0] if definition is not None else ""
            for region in self.regions:
                if owner and region.target.partition("(")[0].rpartition(".")[2] == owner:
                    return region
        calls = [region for region in self.regions if region.target_line is None]
        return calls[0] if len(calls) == 1 else None


def _covers(region: Region, line: int) -> bool:
    # a decorator's call is reported at its own line, or by Python 3.10 at the line of the def, below all decorators
    last = region.end_line
    if region.target_line is not None and region.target_line <= region.line <= (region.target_end_line or 0):
        last = region.target_end_line or last
    return region.line <= line <= last
