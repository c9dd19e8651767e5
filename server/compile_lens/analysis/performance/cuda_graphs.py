"""Finds CUDA graphs that were requested and not used, that leave lines out, or that are recorded repeatedly."""

from __future__ import annotations

from collections.abc import Iterator

from compile_lens.analysis.finding import Finding, Kind, Place, Severity
from compile_lens.analysis.functions import function_place
from compile_lens.analysis.performance.compiled_graphs import CompiledGraph, compiled_graphs
from compile_lens.analysis.run_context import RunContext
from compile_lens.analysis.sources import Sources
from compile_lens.trace.cuda_graph_text import CudaGraphEvent, Trouble, read_cuda_graph_log, skip_of
from compile_lens.trace.graph_text import GraphNode
from compile_lens.trace.report import Compilation

CODES = {
    Trouble.SKIPPED: "cudagraph-skip",
    Trouble.OUTSIDE: "cudagraph-partition",
    Trouble.RECORDED_AGAIN: "cudagraph-rerecord",
    Trouble.LIMIT: "cudagraph-rerecord",
    Trouble.SIZES: "cudagraph-rerecord",
}
SEVERITIES = {Trouble.SKIPPED: Severity.WARNING, Trouble.LIMIT: Severity.WARNING}
# the code of a graph that is split: what is not in a partition runs as without CUDA graphs (torch/_inductor/codegen/wrapper.py, torch 2.8+)
PARTITIONED = "self.partitions["
CPU_WORDS = "an operator on the CPU"
COPY_WORDS = "a copy between the CPU and the GPU"
# torch's words for why an operation is outside (torch/_inductor/scheduler.py, ``should_partition``, torch 2.11 to 2.13)
WORDS = {"cpu ops": CPU_WORDS, "DeviceCopy ops": COPY_WORDS}
EXPLANATION = {
    Trouble.SKIPPED: 'Each kernel is launched separately in every call, as without `mode="reduce-overhead"`.',
    Trouble.OUTSIDE: "The graph is split: the parts before and after this line are separate CUDA graphs.",
    Trouble.RECORDED_AGAIN: "Recording runs the whole graph, and each recording holds its own memory.",
    Trouble.LIMIT: "torch stopped recording: kernels are launched one by one from here on.",
    Trouble.SIZES: "Each size needs a recording, and each recording holds its own memory.",
}
HINTS = (
    (
        "mutated inputs",
        "Return the new value and assign it outside, or keep the tensor in a parameter or buffer.",
    ),
    ("cpu device", 'Move the tensor to the GPU before the call (`.to("cuda")`), or pass a Python number.'),
    (CPU_WORDS, 'Move the tensor to the GPU before the call (`.to("cuda")`), or pass a Python number.'),
    (COPY_WORDS, 'Move the tensor to the GPU before the call (`.to("cuda")`), or pass a Python number.'),
    (
        "incompatible op",
        "Move the operator out of the compiled function, or set `torch._inductor.config.graph_partition` to split the graph there.",
    ),
    (
        "static input data pointer changed",
        "Copy into the parameter or buffer (`p.data.copy_(new)`) instead of replacing its memory.",
    ),
    (
        "cudagraph managed tensor",
        "Call `torch.compiler.cudagraph_mark_step_begin()` before each step, and clone outputs that are kept across steps.",
    ),
)


def find_cuda_graph_trouble(context: RunContext) -> Iterator[Finding]:
    """One finding per place, kind of trouble and reason."""
    report, sources = context.report, context.sources
    compilations = {compilation.compile_id: compilation for compilation in report.compilations}
    groups: dict[tuple[Place, Trouble, str], list[CudaGraphEvent]] = {}
    events = list(read_cuda_graph_log(report.log_lines))
    logged = {(event.trouble, event.compile_id) for event in events}
    for compilation in report.compilations:
        for costs in (compilation.costs, compilation.backward):
            is_logged = (Trouble.SKIPPED, compilation.compile_id) in logged
            events += (
                [skip_of(costs.cuda_graph_skip, compilation.compile_id)]
                if costs.cuda_graph_skip and not is_logged
                else []
            )
    for event in events:
        place = _place(event, compilations.get(event.compile_id or ""), sources)
        if place is not None:
            # one line may hold several operations that are outside
            reason = "" if event.trouble is Trouble.OUTSIDE else event.reason
            groups.setdefault((place, event.trouble, reason), []).append(event)
    for graph in compiled_graphs(report):
        if PARTITIONED in graph.code:
            for place, reason in _outside(graph, sources):
                event = CudaGraphEvent(Trouble.OUTSIDE, reason, graph.compilation.compile_id)
                if not any(
                    known.compile_id == event.compile_id for known in groups.get((place, Trouble.OUTSIDE, ""), ())
                ):
                    groups.setdefault((place, Trouble.OUTSIDE, ""), []).append(event)
    for (place, trouble, reason), found in groups.items():
        words = reason or " and ".join(dict.fromkeys(WORDS.get(event.reason, event.reason) for event in found))
        yield _finding(place, trouble, words, found)


def _finding(place: Place, trouble: Trouble, reason: str, events: list[CudaGraphEvent]) -> Finding:
    # torch logs one line for each recording that does not fit, and repeats them for each new one
    times = len({event.number for event in events}) if trouble is Trouble.RECORDED_AGAIN else len(events)
    if trouble is Trouble.OUTSIDE:
        times = len({event.compile_id for event in events})
    return Finding(
        code=CODES[trouble],
        kind=Kind.PERFORMANCE,
        severity=SEVERITIES.get(trouble, Severity.INFORMATION),
        message=_message(trouble, reason, times, events),
        place=place,
        explanation=EXPLANATION[trouble],
        hints=tuple(dict.fromkeys(hint for sign, hint in HINTS if sign in reason))
        + (
            ("Pad to a few sizes, or set `torch._inductor.config.triton.cudagraph_skip_dynamic_graphs`.",)
            if trouble is Trouble.SIZES
            else ()
        ),
        count=times,
        frames=tuple(dict.fromkeys(event.compile_id for event in events if event.compile_id)),
    )


def _message(trouble: Trouble, reason: str, times: int, events: list[CudaGraphEvent]) -> str:
    if trouble is Trouble.SKIPPED:
        return f"No CUDA graph is used: {reason}."
    if trouble is Trouble.OUTSIDE:
        return f"This line runs outside the CUDA graphs: {reason}."
    if trouble is Trouble.SIZES:
        return f"torch recorded a CUDA graph for each of at least {events[-1].number} sizes."
    if trouble is Trouble.LIMIT:
        return f"torch recorded the CUDA graph again up to the limit: {reason}."
    return f"torch recorded the CUDA graph again{'' if times == 1 else f' {times} times'}: {reason}."


def _place(event: CudaGraphEvent, compilation: Compilation | None, sources: Sources) -> Place | None:
    """The line that torch names, else the call of the moment, else the function."""
    for stack in (event.origin, event.stack if event.trouble is not Trouble.OUTSIDE else ()):
        own = sources.deepest_own(stack)
        if own is not None:
            return sources.line_of(own)
    if compilation is not None and event.trouble is not Trouble.OUTSIDE and sources.is_own(compilation.file):
        return function_place(compilation.file, compilation.line, sources)
    return None


def _outside(graph: CompiledGraph, sources: Sources) -> Iterator[tuple[Place, str]]:
    """What of a graph that was split is on the CPU, or goes to or from it, each once."""
    found: dict[Place, str] = {}
    for node in graph.nodes:
        reason = _reason(node, graph)
        place = graph.place_of(node, sources) if reason else None
        if place is not None:
            found.setdefault(place, reason)
    yield from found.items()


def _reason(node: GraphNode, graph: CompiledGraph) -> str:
    if not node.target or not node.device:
        return ""
    devices = {other.device for other in graph.nodes if other.name in node.operands and other.device}
    if any(device != node.device and "cpu" in (device, node.device) for device in devices):
        return COPY_WORDS
    return CPU_WORDS if node.device == "cpu" else ""
