"""Opens the stages of a trace: its graphs, their documents and kernels, and the links between them and the user's source."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from compile_lens.stages.collection import OpenedStages as OpenedStages
from compile_lens.stages.documents import document, kernel_stages
from compile_lens.stages.events import TraceEvents
from compile_lens.stages.fusion import NOTE as FUSION
from compile_lens.stages.fusion import not_fused, read_schedules
from compile_lens.stages.gpu_preview import GpuKernel, gpu_kernels, preview_of
from compile_lens.stages.grouping import CODE, Compiled, Frame, Lowering, around_phases, documents, first_record, group
from compile_lens.stages.kernels import KernelTexts, read_kernels
from compile_lens.stages.model import Direction, Graph, Kernel, NotFused, SourceSpan, TextSource
from compile_lens.stages.passes import GraphPasses
from compile_lens.stages.provenance import Lines, no_lines
from compile_lens.trace.builder import ReportBuilder
from compile_lens.trace.records import UNUSED, TraceBytes, iterate, opened
from compile_lens.trace.report import Compilation, CompileReport, RegionCall

# of no use for the documents, and most of what a large trace has
NOT_FOR_STAGES = UNUSED | {b"describe_tensor", b"describe_source", b"create_symbol", b"symbolic_shape_specialization"}
# a file that is not the user's, or no file at all
LIBRARY = re.compile(r"[/\\](?:site|dist)-packages[/\\]|[/\\]torch[/\\](?:nn|_dynamo|optim)[/\\]|^<")
UNSAFE = re.compile(r"[^\w.-]+")


def open_stages(report: CompileReport, lines_of: Lines = no_lines, trace: TraceBytes | None = None) -> OpenedStages:
    """The stages of what ``report`` was made of. ``lines_of`` gives the lines of a file of the user's, where it can: columns need them.

    ``trace`` is what the report was made from. It has the times, which a report has not.
    """
    compilations = {compilation.compile_id: compilation for compilation in report.compilations}
    regions = {region.region: region for region in report.regions}
    builder = _Builder(compilations, regions, lines_of, gpu_kernels(report), TraceEvents(trace))
    graphs = tuple(graph for frame in group(report.artifacts) for graph in builder.graphs(frame))
    return OpenedStages(graphs, report.torch, report.rank, preview_of(report), trace)


def read_stages(path: Path, lines_of: Lines = no_lines) -> OpenedStages:
    """The stages of one trace file, without the rest of the report. Raises TraceError."""
    return stages_of(opened(path), lines_of)


def stages_of(trace: TraceBytes, lines_of: Lines = no_lines) -> OpenedStages:
    """The stages of a trace."""
    return open_stages(report_of(trace), lines_of, trace)


def report_of(trace: TraceBytes) -> CompileReport:
    """A report of what stages need of a trace."""
    builder = ReportBuilder()
    for record in iterate(trace, NOT_FOR_STAGES):
        builder.add(record)
    return builder.report()


class _Builder:
    def __init__(
        self,
        compilations: Mapping[str, Compilation],
        regions: Mapping[int, RegionCall],
        lines_of: Lines,
        noted: tuple[GpuKernel, ...],
        events: TraceEvents,
    ) -> None:
        self._compilations = compilations
        self._regions = regions
        self._lines_of = lines_of
        self._noted = noted
        self._events = events
        self._taken: set[str] = set()

    def graphs(self, frame: Frame) -> Iterator[Graph]:
        """The graphs of one frame, the forward one first."""
        for lowering in frame.lowerings or [Lowering()]:
            for direction in lowering.directions:
                yield self._graph(frame, lowering, direction)

    def _graph(self, frame: Frame, lowering: Lowering, direction: Direction) -> Graph:
        name = self._name(frame.compile_id, direction)
        stages = [document(name, kind, source) for kind, source in documents(frame, lowering, direction)]
        compiled = lowering.compiled.get(direction)
        code = compiled.artifacts[CODE].payload if compiled is not None and CODE in compiled.artifacts else None
        passes = self._passes(name, frame, lowering, direction)
        compilation = self._compilations.get(frame.compile_id)
        region = compilation.region if compilation is not None else None
        return Graph(
            id=name,
            compile_id=frame.compile_id,
            direction=direction,
            function=compilation.function if compilation is not None else "",
            file=compilation.file if compilation is not None else "",
            line=compilation.line if compilation is not None else 0,
            region=self._regions.get(region) if region is not None else None,
            documents=tuple(stages),
            read_kernels=self._kernels(name, frame, lowering, compiled),
            read_not_fused=partial(_not_fused, compiled.text_of(FUSION) if compiled is not None else None),
            read_kernel_stages=partial(kernel_stages, name, code, self._noted, frame.compile_id)
            if code is not None
            else tuple,
            read_times=passes.times,
            read_phases=passes.phases,
            read_pass_stages=passes.stages,
        )

    def _passes(self, name: str, frame: Frame, lowering: Lowering, direction: Direction) -> GraphPasses:
        compiled = lowering.compiled.get(direction)
        notes = [*(lowering.passes if direction is not Direction.BACKWARD else ())]
        notes += compiled.passes if compiled is not None else ()
        around = {kind: (before, after) for kind, before, after in around_phases(lowering, direction)}
        start = first_record(frame, lowering, direction)
        if start is None:
            return GraphPasses(name, notes, around, tuple)
        self._events.graph_begins(frame.compile_id, start)
        return GraphPasses(name, notes, around, partial(self._events.of_graph, frame.compile_id, start))

    def _name(self, compile_id: str, direction: Direction) -> str:
        base = f"{UNSAFE.sub('_', compile_id.replace('!', 'ca'))}/{direction.value}"
        name, number = base, 1
        while name in self._taken:
            number += 1
            name = f"{base}_{number}"
        self._taken.add(name)
        return name

    def _kernels(
        self, name: str, frame: Frame, lowering: Lowering, compiled: Compiled | None
    ) -> Callable[[], tuple[Kernel, ...]]:
        if compiled is None or CODE not in compiled.artifacts:
            return tuple
        nearest = ("inductor_post_grad_graph", "after_post_grad_graph", "before_post_grad_graph")
        graphs = [compiled.artifacts[one].payload for one in nearest if one in compiled.artifacts]
        graphs += [
            lowering.artifacts[one].payload
            for one in ("aot_forward_graph", "aot_backward_graph", "aot_inference_graph", "aot_joint_graph")
            if one in lowering.artifacts
        ]
        captured = frame.artifacts.get("dynamo_output_graph")
        return partial(
            read_kernels,
            KernelTexts(
                graph=name,
                code=compiled.artifacts[CODE].payload,
                nodes=tuple(graphs),
                captured=captured.payload if captured is not None else None,
                artifacts={one: text for one in compiled.artifacts if (text := compiled.text_of(one)) is not None},
                lines_of=self._lines_of,
                frame=_place_of_frame(self._compilations.get(frame.compile_id)),
            ),
        )


def _place_of_frame(compilation: Compilation | None) -> SourceSpan | None:
    """Where a frame of the user's begins; of a frame of a library, the line of the user's that leads to it."""
    if compilation is None or not compilation.file:
        return None
    if not LIBRARY.search(compilation.file):
        return SourceSpan(compilation.file, compilation.line)
    callers = (frame for frame in reversed(compilation.call_stack) if not LIBRARY.search(frame.file))
    return next((SourceSpan(frame.file, frame.line) for frame in callers), None)


def _not_fused(note: TextSource | None, kernels: tuple[Kernel, ...]) -> tuple[NotFused, ...]:
    return not_fused(read_schedules(note), kernels)
