"""What became of each function that was compiled: graphs, operations, and the kernels that Inductor made."""

from __future__ import annotations

import re

from compile_lens.analysis.outcome_parts import CompiledFunction
from compile_lens.late_pattern import pattern
from compile_lens.trace.report import Compilation, CompileReport

CODE = "inductor_output_code"
# ``cpp_fused_add_0 = async_compile.cpp_pybinding(…)``, and calls of libraries (torch/_inductor/codegen/wrapper.py, torch 2.13)
KERNEL = pattern(r"^(\w+) = async_compile\.\w+\(|\b(extern_kernels\.\w+)\(", re.MULTILINE)
# a kernel's number depends on those before it in its graph
NUMBER = pattern(r"_\d+$")


def summarize_compiled(report: CompileReport) -> tuple[CompiledFunction, ...]:
    """The functions of ``report`` that have a graph, in the order of their first compilation."""
    kernels: dict[str, list[str]] = {}
    for artifact in report.artifacts:
        if artifact.name == CODE and artifact.compile_id and (code := artifact.payload.text()):
            found = (own or library for own, library in KERNEL.findall(code))
            kernels.setdefault(artifact.compile_id, []).extend(NUMBER.sub("", name) for name in found)
    functions: dict[tuple[str, str], list[Compilation]] = {}
    for compilation in report.compilations:
        if compilation.graphs:
            functions.setdefault((compilation.file, compilation.function), []).append(compilation)
    return tuple(
        CompiledFunction(
            file,
            name,
            min(one.line for one in parts),
            sum(one.graphs for one in parts),
            sum(one.ops or 0 for one in parts),
            tuple(sorted(kernel for one in parts for kernel in kernels.get(one.compile_id, ()))),
        )
        for (file, name), parts in functions.items()
    )
