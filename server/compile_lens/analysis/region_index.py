"""Maps compilations to the compile regions of a file."""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property

from compile_lens.syntax.definitions import definition_at
from compile_lens.syntax.regions import Region, find_regions
from compile_lens.syntax.tree import SourceTree
from compile_lens.trace.report import Compilation, CompileReport


class RegionIndex:
    """The regions of ``file``, and what of ``report`` belongs to each. Lines are looked up: a long run asks thousands of times."""

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
        inside = self._at_call.get(line, ()) if file == self.file else ()
        exact = [region for region in inside if (region.line, region.column) == (line, column)]
        # the innermost that covers the line: a decorator rather than the class it stands in
        return min(exact or inside, key=lambda region: region.end_line - region.line, default=None)

    def may_be_called(self, region: Region) -> bool:
        """Whether a noted call may be the one of ``region``: without columns (Python 3.10), each that its line could have made."""
        lines = self._called_somewhere
        at = bisect_left(lines, region.line)
        return at < len(lines) and lines[at] <= _last_line(region)

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
            if (region := self._wrapping.get(line)) is not None:
                return region
            definition = definition_at(self._tree, line)
            owner = definition.qualified_name.partition(".")[0] if definition is not None else ""
            if owner and (region := self._by_target.get(owner)) is not None:
                return region
        return self._only_call

    @cached_property
    def _at_call(self) -> dict[int, list[Region]]:
        """The regions whose call may be reported at a line."""
        found: dict[int, list[Region]] = {}
        for region in self.regions:
            for line in range(region.line, _last_line(region) + 1):
                found.setdefault(line, []).append(region)
        return found

    @cached_property
    def _called_somewhere(self) -> list[int]:
        """The lines of this file with a call whose column is not known."""
        return sorted(line for file, line, column in self._called.values() if column is None and file == self.file)

    @cached_property
    def _wrapping(self) -> dict[int, Region]:
        """The first region that wraps the function of a line."""
        return {
            line: region
            for region in reversed(self.regions)
            if region.target_line is not None
            for line in range(region.target_line, (region.target_end_line or 0) + 1)
        }

    @cached_property
    def _by_target(self) -> dict[str, Region]:
        """The first region of each class or function, by its last name."""
        return {region.target.partition("(")[0].rpartition(".")[2]: region for region in reversed(self.regions)}

    @cached_property
    def _only_call(self) -> Region | None:
        """The region that wraps something from elsewhere, if there is one such."""
        calls = [region for region in self.regions if region.target_line is None]
        return calls[0] if len(calls) == 1 else None


def _last_line(region: Region) -> int:
    # a decorator's call is reported at its own line, or by Python 3.10 at the line of the def, below all decorators
    if region.target_line is not None and region.target_line <= region.line <= (region.target_end_line or 0):
        return region.target_end_line or region.end_line
    return region.end_line
