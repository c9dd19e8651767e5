"""What each kernel of a graph moves and computes, how long that takes at best on a device, and for which device it was compiled."""

from __future__ import annotations

from dataclasses import dataclass

from compile_lens.knowledge.devices import Device
from compile_lens.stages.model import Graph, Kernel
from compile_lens.stages.picture import GRAPHS
from compile_lens.stages.roofline import Estimate, estimate
from compile_lens.stages.work import Work, work_of
from compile_lens.trace.graph_text import parse_graph


@dataclass(frozen=True, slots=True)
class KernelCost:
    """``moved`` are bytes between the kernel and memory. What is not known is None, as with a symbolic size."""

    moved: int | None
    work: Work | None
    estimate: Estimate | None


def costs_of(graph: Graph, device: Device | None) -> tuple[KernelCost, ...]:
    """The cost of each kernel of ``graph``, in order; estimates for ``device``."""
    stage = next((found for kind in GRAPHS if (found := graph.stage(kind))), None)
    nodes = {node.name: node for node in parse_graph(stage.text)} if stage is not None else {}
    return tuple(
        _cost(kernel, work_of(kernel.nodes, nodes) if kernel.nodes else None, device) for kernel in graph.kernels
    )


def _cost(kernel: Kernel, work: Work | None, device: Device | None) -> KernelCost:
    known = kernel.bytes_read is not None and kernel.bytes_written is not None
    moved = (kernel.bytes_read or 0) + (kernel.bytes_written or 0) if known else None
    if device is None or work is None or moved is None:
        return KernelCost(moved, work, None)
    return KernelCost(moved, work, estimate(work, moved, device))
