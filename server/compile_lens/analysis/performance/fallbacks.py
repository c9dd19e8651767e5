"""Finds operators that Inductor does not generate code for: it calls the library kernel, and cannot fuse."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compile_lens.analysis.finding import Finding, Kind, Place, Severity
from compile_lens.analysis.performance.compiled_graphs import CompiledGraph, compiled_graphs
from compile_lens.analysis.run_context import RunContext
from compile_lens.analysis.sources import Sources
from compile_lens.late_pattern import pattern

CODE = "fallback-op"
# its literal beginning lets the search run at the speed of memory
CALL = pattern(r"torch\.ops\.(?P<operator>\w+\.\w+(?:\.\w+)?)\(")
WHERE_CODE_RUNS = pattern(r"^(?:def call\(|    def call\(|def partition_\d+\()", re.MULTILINE)
# fast library kernels that are meant to be called; what costs nothing; and what synchronization.py reports
MEANT = pattern(
    r"^(?:aten\.(?:_scaled_dot_product\w*|_flash\w*|_efficient\w*|_cudnn\w*|convolution\w*|_?(?:addmm|mm|bmm|scaled_mm)\w*"
    r"|_linalg_check_errors|nonzero|masked_select|_?unique\w*|_local_scalar_dense|set_|resize_|_assert\w*)|_c10d_functional|higher_order|prims|inductor|streams)\b"
)


def find_fallbacks(context: RunContext) -> Iterator[Finding]:
    """One finding per line and operator.

    None of a run that compares with eager: Inductor then uses the library's random numbers, which the program would not.
    """
    report, sources = context.report, context.sources
    if report.comparisons:
        return
    groups: dict[tuple[Place, str], list[str]] = {}
    for graph in compiled_graphs(report):
        for operator in called(graph):
            place = _place(graph, operator, sources)
            if place is not None:
                groups.setdefault((place, operator), []).append(graph.compilation.compile_id)
    for (place, operator), frames in groups.items():
        own = not operator.startswith("aten.")
        yield Finding(
            code=CODE,
            kind=Kind.PERFORMANCE,
            severity=Severity.HINT,
            message=f"Inductor calls the library kernel of `{operator}` here, and fuses nothing into it.",
            place=place,
            explanation="Its inputs and outputs go through memory.",
            hints=(
                "On a hot path, write it with torch's operators, or as a Triton kernel (`torch.library.triton_op`)."
                if own
                else "On a hot path, look for an equivalent operator that Inductor lowers (see `compile-lens explain`).",
            ),
            count=len(frames),
            frames=tuple(dict.fromkeys(frames)),
        )


def called(graph: CompiledGraph) -> list[str]:
    """The operators that the code of a graph calls, each once, without those that are meant to be called."""
    code = graph.code
    start = WHERE_CODE_RUNS.search(code)
    operators = [match["operator"] for match in CALL.finditer(code, start.start())] if start else []
    return [operator for operator in dict.fromkeys(operators) if not MEANT.match(operator)]


def _place(graph: CompiledGraph, operator: str, sources: Sources) -> Place | None:
    for node in graph.nodes:
        if node.target == f"torch.ops.{operator}":
            place = graph.place_of(node, sources)
            if place is not None:
                return place
    return None
