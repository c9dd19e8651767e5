"""Rewrites a report so that it speaks of files of this machine: their paths, and the lines that its lines are at now."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from msgspec.structs import replace

from compile_lens.trace.report import (
    Compilation,
    CompileReport,
    ExportProblem,
    FailedCall,
    GraphBreak,
    GuardFailure,
    RegionCall,
    SideEffect,
    Skip,
    Specialization,
    StackFrame,
)

# a file and a line as recorded → as they are here
Here = Callable[[str, int], tuple[str, int]]
Stack = tuple[StackFrame, ...]
Placed = TypeVar("Placed", GraphBreak, RegionCall, Skip)
Stacked = TypeVar("Stacked", SideEffect, Specialization, FailedCall, ExportProblem)


def stack_frames(report: CompileReport) -> Iterator[StackFrame]:
    """Every stack frame of ``report``: what its lines looked like when it was recorded."""
    for compilation in report.compilations:
        yield from compilation.call_stack
        for broken in compilation.breaks:
            yield from broken.stack
        if compilation.failure is not None:
            yield from compilation.failure.stack
        for failure in compilation.recompile.failures if compilation.recompile is not None else ():
            yield from failure.stack
    for some in (
        report.side_effects,
        report.specializations,
        report.failed_calls,
        report.export_problems,
        report.log_lines,
    ):
        for other in some:
            yield from other.stack
    for line in report.log_lines:
        yield from line.origin


def named_files(report: CompileReport) -> set[str]:
    """The files that ``report`` speaks of."""
    files = {frame.file for frame in stack_frames(report)}
    for compilation in report.compilations:
        files.add(compilation.file)
        files.update(broken.file for broken in compilation.breaks)
    return files | {call.file for call in report.regions} | {skip.file for skip in report.skips}


def relocated(report: CompileReport, here: Here) -> CompileReport:
    """``report`` with the files and lines that ``here`` gives."""
    return _Relocation(here).report(report)


class _Relocation:
    def __init__(self, here: Here) -> None:
        self._here = here
        # frames of one stack come again in many others
        self._frames: dict[StackFrame, StackFrame] = {}

    def report(self, report: CompileReport) -> CompileReport:
        """The whole."""
        return replace(
            report,
            compilations=tuple(self._compilation(compilation) for compilation in report.compilations),
            regions=tuple(self._at(call) for call in report.regions),
            skips=tuple(self._at(skip) for skip in report.skips),
            side_effects=self._with_stacks(report.side_effects),
            specializations=self._with_stacks(report.specializations),
            failed_calls=self._with_stacks(report.failed_calls),
            export_problems=self._with_stacks(report.export_problems),
            log_lines=tuple(
                replace(line, stack=self._stack(line.stack), origin=self._stack(line.origin))
                for line in report.log_lines
            ),
        )

    def _compilation(self, compilation: Compilation) -> Compilation:
        resumed, failure, recompile = compilation.resume_of, compilation.failure, compilation.recompile
        if failure is not None:
            file, line = (
                self._here(failure.file, failure.line)
                if failure.file and failure.line
                else (failure.file, failure.line)
            )
            failure = replace(failure, file=file, line=line, stack=self._stack(failure.stack))
        if resumed is not None:
            resumed = replace(resumed, line=self._here(compilation.file, resumed.line)[1])
        if recompile is not None:
            failures = tuple(self._guard(failed, compilation) for failed in recompile.failures)
            recompile = replace(recompile, failures=failures)
        file, line = self._here(compilation.file, compilation.line)
        return replace(
            compilation,
            file=file,
            line=line,
            resume_of=resumed,
            call_stack=self._stack(compilation.call_stack),
            breaks=tuple(self._break(broken) for broken in compilation.breaks),
            failure=failure,
            recompile=recompile,
        )

    def _break(self, broken: GraphBreak) -> GraphBreak:
        return replace(self._at(broken), stack=self._stack(broken.stack))

    def _guard(self, failed: GuardFailure, compilation: Compilation) -> GuardFailure:
        """A guard names the tail of a path only; if that is the compilation's file, its lines are known."""
        stack = self._stack(failed.stack)
        if failed.line is None or not failed.file_tail or not compilation.file.endswith(failed.file_tail):
            return replace(failed, stack=stack)
        return replace(failed, line=self._here(compilation.file, failed.line)[1], stack=stack)

    def _at(self, placed: Placed) -> Placed:
        file, line = self._here(placed.file, placed.line)
        return replace(placed, file=file, line=line)

    def _with_stacks(self, some: Iterable[Stacked]) -> tuple[Stacked, ...]:
        return tuple(replace(one, stack=self._stack(one.stack)) for one in some)

    def _stack(self, stack: Stack) -> Stack:
        return tuple(self._frame(frame) for frame in stack)

    def _frame(self, frame: StackFrame) -> StackFrame:
        known = self._frames.get(frame)
        if known is None:
            file, line = self._here(frame.file, frame.line)
            # columns are of the text as it was
            known = replace(frame, file=file, line=line)
            self._frames[frame] = known
        return known
