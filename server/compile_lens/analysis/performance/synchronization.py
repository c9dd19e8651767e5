"""Finds lines of a compiled GPU graph that need a value on the CPU, and so synchronize with the GPU."""

from __future__ import annotations

from collections.abc import Iterator

from compile_lens.analysis.finding import Finding, Kind, Place, Severity
from compile_lens.analysis.performance.compiled_graphs import CompiledGraph, compiled_graphs
from compile_lens.analysis.run_context import RunContext
from compile_lens.trace.graph_text import GraphNode

CODE = "device-sync"
SCALAR = "torch.ops.aten._local_scalar_dense"
# operators whose output size depends on the data
DATA_SIZED = (
    "torch.ops.aten.nonzero",
    "torch.ops.aten.masked_select",
    "torch.ops.aten._unique2",
    "torch.ops.aten.unique",
)
INDEXED = "torch.ops.aten.index.Tensor"
COPIES = ("torch.ops.prims.device_put", "torch.ops.aten._to_copy", "torch.ops.aten.copy")
SYNCHRONIZING = (SCALAR, *DATA_SIZED, INDEXED, *COPIES)
GPU = ("cuda", "xpu")


def find_synchronization(context: RunContext) -> Iterator[Finding]:
    """One finding per line of the user's and cause."""
    report, sources = context.report, context.sources
    groups: dict[tuple[Place, str], list[str]] = {}
    for graph in compiled_graphs(report):
        if not any(node.device.startswith(GPU) for node in graph.nodes):
            continue
        for node in graph.nodes:
            cause = _cause(node, graph)
            place = graph.place_of(node, sources) if cause else None
            if place is not None:
                groups.setdefault((place, cause), []).append(graph.compilation.compile_id)
    for (place, cause), frames in groups.items():
        yield Finding(
            code=CODE,
            kind=Kind.PERFORMANCE,
            severity=Severity.INFORMATION,
            message=f"This line synchronizes with the GPU: {cause}.",
            place=place,
            explanation="Python launches no further kernel until the GPU is done, so the GPU is idle afterwards.",
            hints=("Keep the value in a tensor on the GPU, or read it once after the loop.",),
            count=len(frames),
            frames=tuple(dict.fromkeys(frames)),
        )


def _cause(node: GraphNode, graph: CompiledGraph) -> str:
    if not node.target.startswith(SYNCHRONIZING):
        return ""
    operands = [graph.by_name[name] for name in node.operands]
    if not any(operand.device.startswith(GPU) for operand in operands):
        return ""
    if node.target.startswith(SCALAR):
        return "it converts a tensor to a Python number (`.item()`, `int()`, `float()`)"
    if node.target.startswith(DATA_SIZED):
        return "its output size depends on the data"
    if node.target.startswith(INDEXED) and any(op.dtype == "b8" for op in operands):
        return "its output size depends on the data"
    if node.target.startswith(COPIES) and (node.device == "cpu" or "device(type='cpu')" in node.expression):
        return "it moves a tensor to the CPU"
    return ""
