"""The graphs of a trace: finds documents, and leads from lines of the user's to kernels and back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from compile_lens.stages.gpu_preview import GpuPreview
from compile_lens.stages.graph_lines import PrintedGraph, read_graph
from compile_lens.stages.links import Links, links_of, names_torch
from compile_lens.stages.model import Graph, Kernel, Stage, StageKind
from compile_lens.trace.records import TraceBytes

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
        StageKind.SASS,
    }
)


@dataclass(frozen=True)
class OpenedStages:
    """The graphs of one trace, in the order in which they were captured. ``torch`` is its version, '' if the trace does not say.

    ``preview``: it was compiled for a GPU that was not there. ``trace`` is what it was read from, None if that was a report.
    """

    graphs: tuple[Graph, ...]
    torch: str = ""
    rank: int | None = None
    preview: GpuPreview | None = None
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
            needed = stage.kind in OF_KERNELS or names_torch(stage)
            kernels = graph.kernels if graph is not None and needed else ()
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
