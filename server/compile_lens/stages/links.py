"""Which lines of a document come from which lines of the user's, in both directions."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from compile_lens.stages.fusion import operations_in
from compile_lens.stages.graph_lines import PrintedGraph, read_graph
from compile_lens.stages.model import Kernel, SourceSpan, Stage, StageKind
from compile_lens.stages.output_code import read_output_code
from compile_lens.stages.provenance import OF_TORCH, own_place

# an operation of the IR, or several that are fused (``debug_str`` in torch/_inductor/scheduler.py)
OPERATION = re.compile(r"^\s*(?P<names>(?:\w+_)?op\d+(?:_\w*op\d+)*)(?=[:.])")
PRINTED = frozenset(
    {
        StageKind.DYNAMO,
        StageKind.PRE_GRAD_BEFORE,
        StageKind.PRE_GRAD,
        StageKind.JOINT,
        StageKind.FORWARD,
        StageKind.BACKWARD,
        StageKind.INFERENCE,
        StageKind.POST_GRAD_BEFORE,
        StageKind.POST_GRAD,
        StageKind.PASS,
    }
)


@dataclass(frozen=True)
class Links:
    """For the lines of one document, the user's places, and the names of the kernels that a line belongs to."""

    stage: str
    sources: Mapping[int, tuple[SourceSpan, ...]]
    kernels: Mapping[int, tuple[str, ...]]

    @cached_property
    def _by_line(self) -> Mapping[tuple[str, int], tuple[int, ...]]:
        found: dict[tuple[str, int], list[int]] = defaultdict(list)
        for number, spans in self.sources.items():
            for place in dict.fromkeys(
                (span.file, line) for span in spans for line in range(span.line, (span.end_line or span.line) + 1)
            ):
                found[place].append(number)
        return {place: tuple(sorted(numbers)) for place, numbers in found.items()}

    def lines_of(self, file: str, line: int) -> tuple[int, ...]:
        """The lines of the document that come from a line of the user's."""
        return self._by_line.get((file, line), ())


def links_of(stage: Stage, kernels: Sequence[Kernel], graphs: Iterable[PrintedGraph]) -> Links:
    """The links of ``stage``. ``kernels`` are its graph's, ``graphs`` those that have the nodes which comments in code name."""
    if stage.kind in PRINTED:
        found = read_graph(_printed(stage)).lines
        callers = _callers(kernels)
        return Links(stage.id, {line: _own(span, callers) for line, span in found.items()}, {})
    if stage.kind is StageKind.OUTPUT_CODE:
        return _of_code(stage, kernels, tuple(graphs))
    if stage.kernel:
        own = [kernel for kernel in kernels if kernel.name == stage.kernel]
        spans = tuple(dict.fromkeys(span for kernel in own for span in kernel.sources))
        lines = range(1, stage.text.count("\n") + 1)
        calls = tuple(kernel.call for kernel in own)
        return Links(stage.id, dict.fromkeys(lines, spans) if spans else {}, dict.fromkeys(lines, calls))
    if stage.kind in {StageKind.IR_PRE_FUSION, StageKind.IR_POST_FUSION}:
        return _of_operations(stage.id, stage.text, kernels)
    return Links(stage.id, {}, {})


def names_torch(stage: Stage) -> bool:
    """Whether a graph is printed with lines of torch's own: what the user calls there is known of its kernels alone."""
    return stage.kind in PRINTED and any(
        OF_TORCH.search(span.file) for span in read_graph(_printed(stage)).lines.values()
    )


def _printed(stage: Stage) -> str:
    """The text of a graph; of a pass, that behind the signs of a diff."""
    return stage.text if stage.kind is not StageKind.PASS else "\n".join(line[1:] for line in stage.text.split("\n"))


def _callers(kernels: Iterable[Kernel]) -> Mapping[tuple[str, int], tuple[SourceSpan, ...]]:
    """For lines of torch's own, the user's places that lead there."""
    found: dict[tuple[str, int], dict[SourceSpan, None]] = defaultdict(dict)
    for stack in (stack for kernel in kernels for stack in kernel.stacks):
        place = own_place(stack)
        if place is not stack[-1]:
            found[stack[-1].file, stack[-1].line][place] = None
    return {place: tuple(spans) for place, spans in found.items()}


def _own(span: SourceSpan, callers: Mapping[tuple[str, int], tuple[SourceSpan, ...]]) -> tuple[SourceSpan, ...]:
    return callers.get((span.file, span.line), (span,))


def _of_code(stage: Stage, kernels: Sequence[Kernel], graphs: tuple[PrintedGraph, ...]) -> Links:
    sources: dict[int, dict[SourceSpan, None]] = defaultdict(dict)
    calls: dict[int, dict[str, None]] = defaultdict(dict)
    callers = _callers(kernels)
    for kernel in kernels:
        for lines in kernel.lines:
            for line in range(lines.first, lines.last + 1):
                sources[line].update(dict.fromkeys(kernel.sources))
                calls[line][kernel.call] = None
    # a comment that names one node of a kernel comes from that node's place alone
    code = read_output_code(stage.text)
    described = [found.comments for found in code.definitions.values()] + [found.comments for found in code.calls]
    for comments in described:
        for line, node in comments.places.items():
            printed = next((graph.nodes[node] for graph in graphs if node in graph.nodes), None)
            if printed is not None and printed.span is not None:
                sources[line] = dict.fromkeys(_own(printed.span, callers))
    return Links(
        stage.id,
        {line: tuple(spans) for line, spans in sources.items() if spans},
        {line: tuple(names) for line, names in calls.items()},
    )


def _of_operations(stage: str, text: str, kernels: Sequence[Kernel]) -> Links:
    """The IR: a line belongs to the operation that was named last, and so to its kernels."""
    owners: dict[str, list[Kernel]] = defaultdict(list)
    for kernel in kernels:
        for operation in kernel.operations:
            owners[operation].append(kernel)
    sources: dict[int, tuple[SourceSpan, ...]] = {}
    calls: dict[int, tuple[str, ...]] = {}
    named: list[Kernel] = []
    for number, line in enumerate(text.split("\n"), 1):
        if found := OPERATION.match(line):
            named = [kernel for name in operations_in(found["names"]) for kernel in owners.get(name, ())]
        if named:
            sources[number] = tuple(dict.fromkeys(span for kernel in named for span in kernel.sources))
            calls[number] = tuple(dict.fromkeys(kernel.call for kernel in named))
    return Links(stage, {line: spans for line, spans in sources.items() if spans}, calls)
