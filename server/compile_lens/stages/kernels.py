"""Puts together what is known of each kernel of a graph: its code, its nodes, and the user's source."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from compile_lens.stages.code_parts import NAMES, KernelCall, KernelDefinition, OutputCode
from compile_lens.stages.fusion import NOTE, ScheduledNode, nodes_of_kernels, read_schedules
from compile_lens.stages.graph_lines import NO_GRAPH, PrintedGraph, read_graph
from compile_lens.stages.model import Kernel, KernelKind, SourceSpan, TextSource
from compile_lens.stages.output_code import read_output_code
from compile_lens.stages.provenance import Lines, Provenance, own_place, read_provenance, spans_of_stack
from compile_lens.stages.traffic import bytes_of, read_buffers, traffic_of

BACKENDS = {
    "triton": KernelKind.TRITON,
    "user_autotune": KernelKind.TRITON,
    "multi_kernel": KernelKind.TRITON,
    "cpp": KernelKind.CPP,
    "cpp_pybinding": KernelKind.CPP,
    "halide": KernelKind.OTHER,
}
LIBRARY = "extern_kernels."
HIGHER_ORDER = "higher_order."
# the same in a wrapper of C++: what writes into memory that it is given is a library's
CPP_LIBRARY = re.compile(r"^aoti_torch_(?:cpu|cuda|xpu|mps)_(?P<name>\w+?)(?P<out>_out)?$")
TEMPLATE = re.compile(r"^(?:triton_tem_|cpp_.*(?:_gemm|_bmm|_attention)|cutlass_|cuda_)")


@dataclass(frozen=True)
class KernelTexts:
    """What the kernels of one graph are read from. ``nodes`` are graphs that have its nodes, the nearest to the kernels first;
    ``captured`` is the graph that Dynamo made; ``artifacts`` are torch's, by name; ``frame`` is where the frame is called, or begins."""

    graph: str
    code: TextSource
    nodes: tuple[TextSource, ...]
    captured: TextSource | None
    artifacts: Mapping[str, TextSource]
    lines_of: Lines
    frame: SourceSpan | None = None


def read_kernels(texts: KernelTexts) -> tuple[Kernel, ...]:
    """The kernels of one graph, in the order in which the code calls them."""
    text = texts.code.text() or ""
    reader = _Reader(texts, text, read_output_code(text))
    return tuple(reader.kernels())


class _Reader:
    def __init__(self, texts: KernelTexts, text: str, code: OutputCode) -> None:
        self._texts = texts
        self._text = text
        self._code = code
        self._buffers = read_buffers(text)
        self._provenance: Provenance = read_provenance(texts.artifacts)
        self._graphs = [read_graph(source.text() or "") for source in texts.nodes]
        self._captured: PrintedGraph = read_graph(texts.captured.text() or "") if texts.captured else NO_GRAPH

    def kernels(self) -> Iterator[Kernel]:
        """All calls. Without torch's number for a call, they are counted in the order of the text."""
        scheduled = nodes_of_kernels(
            read_schedules(self._texts.artifacts.get(NOTE)),
            [frozenset(NAMES.findall(call.text)) for call in self._code.calls],
            [
                frozenset(self._provenance.nodes_of(call.handle, call.handle.rpartition(":")[0]))
                for call in self._code.calls
            ],
        )
        for number, (call, nodes) in enumerate(zip(self._code.calls, scheduled, strict=True), 1):
            yield self._with_traffic(self._kernel(number, call, nodes), call, nodes)

    def _kernel(self, number: int, call: KernelCall, scheduled: tuple[ScheduledNode, ...]) -> Kernel:
        defined = self._code.definitions.get(call.name)
        name = call.handle.rpartition(":")[0] or call.name
        handle = call.handle or f"{name}:{number}"
        origins = tuple(dict.fromkeys(origin for node in scheduled for origin in node.origins))
        nodes = self._provenance.nodes_of(handle, name) or origins or tuple(_in_comments(call, defined))
        if not nodes and len(self._code.calls) == 1:
            nodes = self._computed()
        nodes = nodes or self._only_node_of(call)
        stacks = self._stacks(handle, name)
        sources = tuple(dict.fromkeys(map(own_place, stacks))) or tuple(
            dict.fromkeys(self._spans_of_nodes(nodes, call, defined))
        )
        is_by_frame = not sources and self._texts.frame is not None
        if self._texts.frame is not None and is_by_frame:
            sources = (self._texts.frame,)
        return Kernel(
            name=call.name,
            call=handle,
            kind=_kind(call.name, defined),
            graph=self._texts.graph,
            lines=(*([defined.lines] if defined else []), call.lines),
            definition=defined.lines if defined else None,
            source=defined.source if defined else None,
            called_at=call.lines,
            nodes=nodes,
            operators=tuple(self._operators(call, defined, nodes)),
            sources=sources,
            stacks=stacks or tuple((span,) for span in sources),
            is_by_frame=is_by_frame,
        )

    def _computed(self) -> tuple[str, ...]:
        """All that the graph computes: the nodes of its only kernel."""
        printed = self._graphs[0].nodes.values() if self._graphs else ()
        return tuple(node.name for node in printed if node.target)

    def _only_node_of(self, call: KernelCall) -> tuple[str, ...]:
        """The node that calls the same operator, if there is one such node and one such call."""
        if sum(other.name == call.name for other in self._code.calls) > 1 or not self._graphs:
            return ()
        target = _called_operator(call.name)
        found = [
            node.name
            for node in self._graphs[0].nodes.values()
            if node.target
            and target.removeprefix("torch.ops.") in (_operator(node.target), node.target[len("torch.ops.") :])
        ]
        return tuple(found) if len(found) == 1 else ()

    def _with_traffic(self, kernel: Kernel, call: KernelCall, scheduled: tuple[ScheduledNode, ...]) -> Kernel:
        """``kernel`` with what it reads and writes: as torch estimates it, else by the sizes in the code."""
        found = traffic_of(call, self._code.definitions.get(call.name), self._text, self._buffers)
        reads, writes = dict(found.reads), dict(found.writes)
        bytes_read, bytes_written = found.bytes_read, found.bytes_written
        if estimated := [node for node in scheduled if node.reads or node.writes]:
            of_reads = {name: size for node in estimated for name, size in node.reads.items()}
            of_writes = {name: size for node in estimated for name, size in node.writes.items()}
            bytes_read, bytes_written = sum(of_reads.values()), sum(of_writes.values())
        elif bytes_written is None:
            bytes_written = self._size_of_result(kernel.nodes)
        avoided = sum(size for node in scheduled for size in node.avoided.values()) if scheduled else None
        return replace(
            kernel,
            operations=tuple(name for node in scheduled for name in node.operations),
            reads=tuple(reads),
            writes=tuple(writes),
            bytes_read=bytes_read,
            bytes_written=bytes_written,
            avoided=avoided,
        )

    def _size_of_result(self, nodes: tuple[str, ...]) -> int | None:
        """The bytes of what the only node of a call returns: of a library's or torch's own function, the code has no size."""
        if len(nodes) != 1 or not self._graphs:
            return None
        printed = self._graphs[0].nodes
        result = printed.get(nodes[0])
        if result is None:
            return None
        if result.type:
            return bytes_of(result.type)
        parts = [bytes_of(one.type) for one in printed.values() if one.operands == (nodes[0],) and not one.target]
        known = [size for size in parts if size is not None]
        return sum(known) if known and len(known) == len(parts) else None

    def _stacks(self, handle: str, name: str) -> tuple[tuple[SourceSpan, ...], ...]:
        stacks = (spans_of_stack(text, self._texts.lines_of) for text in self._provenance.stacks_of(handle, name))
        return tuple(dict.fromkeys(stack for stack in stacks if stack))

    def _spans_of_nodes(
        self, nodes: Iterable[str], call: KernelCall, defined: KernelDefinition | None
    ) -> Iterator[SourceSpan]:
        known = [span for node in nodes for span in self._span_of_node(node)]
        if known:
            yield from known
            return
        for comments in (call.comments, *([defined.comments] if defined is not None else [])):
            for source in comments.source_nodes:
                yield from self._span_of_source(source)

    def _span_of_source(self, name: str) -> Iterator[SourceSpan]:
        """The place of a node that a comment names. It is one of Dynamo's graph; in a backward graph, one of that graph, too."""
        captured = self._captured.nodes.get(name)
        own = next(self._span_of_node(name), None) if "/backward" in self._texts.graph else None
        of_dynamo = captured.span if captured is not None else None
        # where both have the name, the comment does not tell which is meant
        if own is None or of_dynamo is None or own == of_dynamo:
            yield from filter(None, [own or of_dynamo])

    def _span_of_node(self, node: str) -> Iterator[SourceSpan]:
        """The place of a node, in the first graph that has it."""
        for graph in self._graphs:
            printed = graph.nodes.get(node)
            if printed is not None and printed.span is not None:
                yield printed.span
                return

    def _operators(self, call: KernelCall, defined: KernelDefinition | None, nodes: Iterable[str]) -> Iterator[str]:
        """What torch says that the kernel comes from; else what its nodes call.

        Of a call of a library only its own node counts: torch also names the views that it takes in.
        """
        if defined is None:
            own = [target for node in nodes if (target := self._target(node))]
            of_library = _is_library(call.name) and len(own) == 1
            yield _operator(own[0] if of_library else _called_operator(call.name))
            return
        aten = call.comments.aten or (defined.comments.aten if defined is not None else ())
        if aten:
            yield from dict.fromkeys(_operator(name) for name in aten)
            return
        targets = [self._target(node) for node in nodes]
        names = dict.fromkeys(_operator(target) for target in targets if target and "getitem" not in target)
        # of a kernel in a branch, torch also names what calls the branch
        yield from [name for name in names if not name.startswith(HIGHER_ORDER)] or names

    def _target(self, node: str) -> str:
        return next((printed.target for graph in self._graphs if (printed := graph.nodes.get(node))), "")


def _in_comments(call: KernelCall, defined: KernelDefinition | None) -> Iterator[str]:
    """The post-grad nodes that comments name."""
    yield from dict.fromkeys((*call.comments.nodes, *(defined.comments.nodes if defined is not None else ())))


def _is_library(name: str) -> bool:
    found = CPP_LIBRARY.match(name)
    return name.startswith(LIBRARY) or bool(found and found["out"])


def _called_operator(name: str) -> str:
    """The operator of a call of a library's or torch's own function."""
    found = CPP_LIBRARY.match(name)
    return f"aten.{found['name']}" if found else name.replace(LIBRARY, "aten.")


def _operator(target: str) -> str:
    """``aten.add`` for ``torch.ops.aten.add.Tensor``."""
    parts = target.removeprefix("torch.ops.").split(".")
    return ".".join(parts[:2])


def _kind(name: str, defined: KernelDefinition | None) -> KernelKind:
    if defined is None:
        return KernelKind.EXTERN if _is_library(name) else KernelKind.FALLBACK
    if TEMPLATE.match(name):
        return KernelKind.TEMPLATE
    return BACKENDS.get(defined.backend, KernelKind.OTHER)
