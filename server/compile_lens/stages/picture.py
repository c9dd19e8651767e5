"""A graph as a picture: a box for each kernel, with the nodes that it computes, and what flows between them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from compile_lens.stages.graph_lines import PrintedNode, read_graph
from compile_lens.stages.model import Graph, Kernel, StageKind

GRAPHS = (StageKind.POST_GRAD, StageKind.POST_GRAD_BEFORE, StageKind.FORWARD, StageKind.BACKWARD, StageKind.INFERENCE)


@dataclass(frozen=True, slots=True)
class PictureGroup:
    """A kernel's call and its nodes; ``edges`` are pairs of indexes of nodes."""

    kernel: Kernel
    nodes: tuple[PrintedNode, ...]
    edges: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """``edges`` are pairs of indexes of groups, each with the names of what flows."""

    groups: tuple[PictureGroup, ...]
    edges: tuple[tuple[int, int, tuple[str, ...]], ...]


def picture_of(graph: Graph) -> Picture:
    """The picture of a graph. Without its nodes, kernels are boxes that are joined by the buffers they name."""
    nodes = nodes_of(graph)
    named = {name for kernel in graph.kernels for name in kernel.nodes}
    groups = tuple(_group(kernel, nodes, named) for kernel in graph.kernels)
    flows = list(_of_buffers(graph.kernels)) or list(_of_nodes(groups, nodes))
    joined: dict[tuple[int, int], dict[str, None]] = {}
    for first, second, name in flows:
        if first != second:
            joined.setdefault((first, second), {})[name] = None
    return Picture(groups, tuple((first, second, tuple(names)) for (first, second), names in joined.items()))


def nodes_of(graph: Graph) -> Mapping[str, PrintedNode]:
    """The nodes of the graph that is nearest to its kernels."""
    stage = next((found for kind in GRAPHS if (found := graph.stage(kind))), None)
    return read_graph(stage.text).nodes if stage is not None else {}


def _group(kernel: Kernel, nodes: Mapping[str, PrintedNode], named: Collection[str]) -> PictureGroup:
    # in the order of the graph, whatever the order in which torch names them
    wanted = set(kernel.nodes)
    own = tuple(node for name, node in nodes.items() if name in wanted)
    index = {node.name: number for number, node in enumerate(own)}

    def operands(node: PrintedNode) -> Iterator[str]:
        for name in node.operands:
            # torch does not name the parts of a tuple, and some views
            if name in nodes and name not in named:
                yield from operands(nodes[name])
            yield name

    edges = tuple(
        (index[operand], number)
        for number, node in enumerate(own)
        for operand in dict.fromkeys(operands(node))
        if operand in index
    )
    return PictureGroup(kernel, own, edges)


def _of_buffers(kernels: Sequence[Kernel]) -> Iterator[tuple[int, int, str]]:
    """Each kernel that reads a buffer follows the one that wrote it last: memory is used again."""
    writers: dict[str, int] = {}
    for number, kernel in enumerate(kernels):
        for name in kernel.reads:
            if name in writers:
                yield writers[name], number, name
        writers.update(dict.fromkeys(kernel.writes, number))


def _of_nodes(groups: Sequence[PictureGroup], nodes: Mapping[str, PrintedNode]) -> Iterator[tuple[int, int, str]]:
    """Each kernel follows those that compute what its nodes are made of, through nodes that no kernel names (views, parts of tuples)."""
    makers: dict[str, int] = {}
    for number, group in enumerate(groups):
        for node in group.nodes:
            makers.setdefault(node.name, number)
    for number, group in enumerate(groups):
        own = {node.name for node in group.nodes}
        seen = set(own)
        waiting = [operand for node in group.nodes for operand in node.operands]
        while waiting:
            name = waiting.pop()
            if name in seen:
                continue
            seen.add(name)
            maker = makers.get(name)
            # a kernel runs after what it needs: a later one that names the same node computes it anew
            if maker is not None and maker < number:
                yield maker, number, name
            elif name in nodes:
                waiting += nodes[name].operands
