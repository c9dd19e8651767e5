"""Opens the stages of a trace: its graphs, their documents and kernels, and the links between them and the user's source."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from compile_lens.stages.fusion import NOTE as FUSION
from compile_lens.stages.fusion import not_fused, read_schedule
from compile_lens.stages.graph_lines import PrintedGraph, read_graph
from compile_lens.stages.grouping import CODE, Compiled, Frame, Lowering, documents, group
from compile_lens.stages.kernels import KernelTexts, read_kernels
from compile_lens.stages.links import Links, links_of
from compile_lens.stages.model import Direction, Graph, Kernel, NotFused, Stage, StageKind, TextSource
from compile_lens.stages.output_code import read_output_code
from compile_lens.stages.provenance import Lines
from compile_lens.trace.builder import ReportBuilder
from compile_lens.trace.records import UNUSED, TraceBytes, iterate, opened
from compile_lens.trace.report import Artifact, Compilation, CompileReport, RegionCall

# of no use for the documents, and most of what a large trace has
NOT_FOR_STAGES = UNUSED | {b"describe_tensor", b"describe_source", b"create_symbol", b"symbolic_shape_specialization"}
LANGUAGES = {
    StageKind.GUARDS: "plaintext",
    StageKind.TTIR: "mlir",
    StageKind.TTGIR: "mlir",
    StageKind.LLIR: "llvm",
    StageKind.PTX: "ptx",
    StageKind.SASS: "plaintext",
}
TITLES = {
    StageKind.DYNAMO: "Dynamo graph",
    StageKind.GUARDS: "Guards",
    StageKind.PRE_GRAD_BEFORE: "Graph before pre-grad passes",
    StageKind.PRE_GRAD: "Graph after pre-grad passes",
    StageKind.JOINT: "Joint graph",
    StageKind.FORWARD: "Forward graph",
    StageKind.BACKWARD: "Backward graph",
    StageKind.INFERENCE: "Inference graph",
    StageKind.POST_GRAD_BEFORE: "Graph before post-grad passes",
    StageKind.POST_GRAD: "Graph after post-grad passes",
    StageKind.IR_PRE_FUSION: "IR before fusion",
    StageKind.IR_POST_FUSION: "IR after fusion",
    StageKind.OUTPUT_CODE: "Output code",
}
# documents whose lines belong to kernels
OF_KERNELS = frozenset(
    {
        StageKind.IR_PRE_FUSION,
        StageKind.IR_POST_FUSION,
        StageKind.OUTPUT_CODE,
        StageKind.KERNEL,
        StageKind.TTIR,
        StageKind.TTGIR,
        StageKind.LLIR,
        StageKind.PTX,
    }
)
UNSAFE = re.compile(r"[^\w.-]+")


def _no_lines(_file: str) -> Sequence[str] | None:
    return None


@dataclass(frozen=True)
class OpenedStages:
    """The graphs of one trace, in the order in which they were captured. ``torch`` is its version, '' if the trace does not say.

    ``trace`` is what it was read from, None if that was a report.
    """

    graphs: tuple[Graph, ...]
    torch: str = ""
    rank: int | None = None
    trace: TraceBytes | None = field(default=None, compare=False, repr=False)
    _links: dict[str, Links] = field(default_factory=dict, compare=False, repr=False)

    def graph(self, name: str) -> Graph | None:
        """The graph with this id."""
        return next((graph for graph in self.graphs if graph.id == name), None)

    def stage(self, name: str) -> Stage | None:
        """The document with this id."""
        parts = name.split("/")
        graph = self.graph("/".join(parts[:2]))
        if graph is None:
            return None
        # what is of one kernel is known when the code has been read
        stages = graph.documents if len(parts) == 3 else graph.stages
        return next((stage for stage in stages if stage.id == name), None)

    def links_of(self, stage: Stage) -> Links:
        """The links of a document, which are kept once they were read."""
        found = self._links.get(stage.id)
        if found is None:
            graph = self.graph(stage.graph)
            kernels = graph.kernels if graph is not None and stage.kind in OF_KERNELS else ()
            found = self._links[stage.id] = links_of(stage, kernels, self._printed(graph))
        return found

    def _printed(self, graph: Graph | None) -> Iterator[PrintedGraph]:
        if graph is not None:
            for kind in (StageKind.POST_GRAD, StageKind.FORWARD, StageKind.BACKWARD, StageKind.INFERENCE):
                if stage := graph.stage(kind):
                    yield read_graph(stage.text)

    def kernels_at(self, file: str, line: int, column: int | None = None, callers: bool = False) -> tuple[Kernel, ...]:
        """The kernels that compute something of a line of the user's, in all graphs; with ``callers`` also those of what it calls."""
        return tuple(
            kernel
            for graph in self.graphs
            for kernel in graph.kernels
            if any(span.covers(file, line, column) for span in kernel.sources)
            or (callers and any(span.covers(file, line, column) for stack in kernel.stacks for span in stack))
        )

    def lines_at(self, stage: Stage, file: str, line: int) -> tuple[int, ...]:
        """The lines of a document that come from a line of the user's."""
        return self.links_of(stage).lines_of(file, line)


def open_stages(report: CompileReport, lines_of: Lines = _no_lines) -> OpenedStages:
    """The stages of what ``report`` was made of. ``lines_of`` gives the lines of a file of the user's, where it can: columns need them."""
    compilations = {compilation.compile_id: compilation for compilation in report.compilations}
    regions = {region.region: region for region in report.regions}
    builder = _Builder(compilations, regions, lines_of)
    graphs = tuple(graph for frame in group(report.artifacts) for graph in builder.graphs(frame))
    return OpenedStages(graphs, report.torch, report.rank)


def read_stages(path: Path, lines_of: Lines = _no_lines) -> OpenedStages:
    """The stages of one trace file, without the rest of the report. Raises TraceError."""
    return stages_of(opened(path), lines_of)


def stages_of(trace: TraceBytes, lines_of: Lines = _no_lines) -> OpenedStages:
    """The stages of a trace."""
    return replace(open_stages(report_of(trace), lines_of), trace=trace)


def report_of(trace: TraceBytes) -> CompileReport:
    """A report of what stages need of a trace."""
    builder = ReportBuilder()
    for record in iterate(trace, NOT_FOR_STAGES):
        builder.add(record)
    return builder.report()


class _Builder:
    def __init__(
        self, compilations: Mapping[str, Compilation], regions: Mapping[int, RegionCall], lines_of: Lines
    ) -> None:
        self._compilations = compilations
        self._regions = regions
        self._lines_of = lines_of
        self._taken: set[str] = set()

    def graphs(self, frame: Frame) -> Iterator[Graph]:
        """The graphs of one frame, the forward one first."""
        for lowering in frame.lowerings or [Lowering()]:
            for direction in lowering.directions:
                yield self._graph(frame, lowering, direction)

    def _graph(self, frame: Frame, lowering: Lowering, direction: Direction) -> Graph:
        name = self._name(frame.compile_id, direction)
        stages = [
            Stage(f"{name}/{kind.value}", kind, name, TITLES[kind], LANGUAGES.get(kind, "python"), artifact.payload)
            for kind, artifact in documents(frame, lowering, direction)
        ]
        compiled = lowering.compiled.get(direction)
        code = compiled.artifacts[CODE].payload if compiled is not None and CODE in compiled.artifacts else None
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
            times={},
            read_kernels=self._kernels(name, frame, lowering, compiled),
            read_not_fused=partial(_not_fused, compiled.artifacts.get(FUSION) if compiled is not None else None),
            read_kernel_stages=partial(_kernel_stages, name, code) if code is not None else tuple,
        )

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
                artifacts={one: artifact.payload for one, artifact in compiled.artifacts.items()},
                lines_of=self._lines_of,
            ),
        )


def _kernel_stages(graph: str, code: TextSource) -> tuple[Stage, ...]:
    """One document for each kernel whose source is in the output code."""
    return tuple(
        Stage(
            f"{graph}/{StageKind.KERNEL.value}/{found.name}",
            StageKind.KERNEL,
            graph,
            found.name,
            "cpp" if found.backend.startswith("cpp") else "python",
            code,
            found.source,
            found.name,
        )
        for found in read_output_code(code.text() or "").definitions.values()
        if found.source is not None
    )


def _not_fused(note: Artifact | None, kernels: tuple[Kernel, ...]) -> tuple[NotFused, ...]:
    return not_fused(read_schedule(note.payload), kernels) if note is not None else ()
