"""Puts together what is known of each kernel of a graph: its code, its nodes, and the user's source."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from compile_lens.stages.graph_lines import NO_GRAPH, PrintedGraph, read_graph
from compile_lens.stages.model import Kernel, KernelKind, SourceSpan, TextSource
from compile_lens.stages.output_code import Definition, KernelCall, OutputCode, read_output_code
from compile_lens.stages.provenance import Lines, Provenance, read_provenance, spans_of_stack

BACKENDS = {
    "triton": KernelKind.TRITON,
    "user_autotune": KernelKind.TRITON,
    "multi_kernel": KernelKind.TRITON,
    "cpp": KernelKind.CPP,
    "cpp_pybinding": KernelKind.CPP,
    "halide": KernelKind.OTHER,
}
TEMPLATE = re.compile(r"^(?:triton_tem_|cpp_.*(?:_gemm|_bmm|_attention)|cutlass_|cuda_)")


@dataclass(frozen=True)
class KernelTexts:
    """What the kernels of one graph are read from. ``nodes`` are graphs that have its nodes, the nearest to the kernels first;
    ``captured`` is the graph that Dynamo made; ``artifacts`` are torch's, by name."""

    graph: str
    code: TextSource
    nodes: tuple[TextSource, ...]
    captured: TextSource | None
    artifacts: Mapping[str, TextSource]
    lines_of: Lines


def read_kernels(texts: KernelTexts) -> tuple[Kernel, ...]:
    """The kernels of one graph, in the order in which the code calls them."""
    code = read_output_code(texts.code.text() or "")
    reader = _Reader(texts, code)
    return tuple(reader.kernel(number, call) for number, call in enumerate(code.calls, 1))


class _Reader:
    def __init__(self, texts: KernelTexts, code: OutputCode) -> None:
        self._texts = texts
        self._code = code
        self._provenance: Provenance = read_provenance(texts.artifacts)
        self._graphs = [read_graph(source.text() or "") for source in texts.nodes]
        self._captured: PrintedGraph = read_graph(texts.captured.text() or "") if texts.captured else NO_GRAPH

    def kernel(self, number: int, call: KernelCall) -> Kernel:
        """What is known of one call; without torch's number for it, calls are counted in the order of the text."""
        defined = self._code.definitions.get(call.name)
        name = call.handle.rpartition(":")[0] or call.name
        handle = call.handle or f"{name}:{number}"
        nodes = tuple(self._nodes(call, defined, handle, name))
        stacks = self._stacks(handle, name)
        sources = tuple(dict.fromkeys(stack[-1] for stack in stacks)) or tuple(
            dict.fromkeys(self._spans_of_nodes(nodes, call, defined))
        )
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
        )

    def _nodes(self, call: KernelCall, defined: Definition | None, handle: str, name: str) -> Iterator[str]:
        found = self._provenance.nodes_of(handle, name)
        yield from found or dict.fromkeys(
            (*call.comments.nodes, *(defined.comments.nodes if defined is not None else ()))
        )

    def _stacks(self, handle: str, name: str) -> tuple[tuple[SourceSpan, ...], ...]:
        stacks = (spans_of_stack(text, self._texts.lines_of) for text in self._provenance.stacks_of(handle, name))
        return tuple(dict.fromkeys(stack for stack in stacks if stack))

    def _spans_of_nodes(
        self, nodes: Iterable[str], call: KernelCall, defined: Definition | None
    ) -> Iterator[SourceSpan]:
        known = [span for node in nodes for span in self._span_of_node(node)]
        if known:
            yield from known
            return
        for comments in (call.comments, *([defined.comments] if defined is not None else [])):
            for source in comments.source_nodes:
                printed = self._captured.nodes.get(source)
                if printed is not None and printed.span is not None:
                    yield printed.span
                elif printed is None:
                    yield from self._span_of_node(source)

    def _span_of_node(self, node: str) -> Iterator[SourceSpan]:
        """The place of a node, in the first graph that has it."""
        for graph in self._graphs:
            printed = graph.nodes.get(node)
            if printed is not None and printed.span is not None:
                yield printed.span
                return

    def _operators(self, call: KernelCall, defined: Definition | None, nodes: Iterable[str]) -> Iterator[str]:
        """What torch says that the kernel comes from; else what its nodes call."""
        aten = call.comments.aten or (defined.comments.aten if defined is not None else ())
        if aten:
            yield from dict.fromkeys(_operator(name) for name in aten)
            return
        targets = [self._target(node) for node in nodes]
        yield from dict.fromkeys(_operator(target) for target in targets if target and "getitem" not in target)

    def _target(self, node: str) -> str:
        return next((printed.target for graph in self._graphs if (printed := graph.nodes.get(node))), "")


def _operator(target: str) -> str:
    """``aten.add`` for ``torch.ops.aten.add.Tensor``."""
    parts = target.removeprefix("torch.ops.").split(".")
    return ".".join(parts[:2])


def _kind(name: str, defined: Definition | None) -> KernelKind:
    if defined is None:
        return KernelKind.EXTERN if name.startswith("extern_kernels.") else KernelKind.FALLBACK
    if TEMPLATE.match(name):
        return KernelKind.TEMPLATE
    return BACKENDS.get(defined.backend, KernelKind.OTHER)
