"""Names the documents of a graph, and the language of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from compile_lens.stages.gpu_preview import GpuKernel, kernel_named
from compile_lens.stages.model import Stage, StageKind, TextSource
from compile_lens.stages.output_code import read_output_code

LANGUAGES = {
    StageKind.GUARDS: "plaintext",
    StageKind.TTIR: "mlir",
    StageKind.TTGIR: "mlir",
    StageKind.LLIR: "llvm",
    StageKind.PTX: "ptx",
    StageKind.SASS: "plaintext",
    StageKind.PASS: "diff",
}
TITLES = {
    StageKind.DYNAMO: "Dynamo graph",
    StageKind.GUARDS: "Guards",
    StageKind.PRE_GRAD_BEFORE: "Graph before pre-grad passes",
    StageKind.PRE_GRAD: "Graph after pre-grad passes",
    StageKind.JOINT: "Joint graph",
    StageKind.FORWARD: "Forward graph",
    StageKind.BACKWARD: "Backward graph",
    StageKind.INFERENCE: "Inference graph",
    StageKind.POST_GRAD_BEFORE: "Graph before post-grad passes",
    StageKind.POST_GRAD: "Graph after post-grad passes",
    StageKind.IR_PRE_FUSION: "IR before fusion",
    StageKind.IR_POST_FUSION: "IR after fusion",
    StageKind.OUTPUT_CODE: "Output code",
}


def document(graph: str, kind: StageKind, source: TextSource) -> Stage:
    """The document of ``graph`` of a kind that it has one of."""
    return Stage(f"{graph}/{kind.value}", kind, graph, TITLES[kind], LANGUAGES.get(kind, "python"), source)


def assembly_stages(graph: str, kernel: GpuKernel) -> Iterator[Stage]:
    """The documents that Triton made of a kernel, for each of its configurations."""
    several = len(kernel.configurations) > 1
    for number, configuration in enumerate(kernel.configurations):
        name = f"{kernel.name}.{number}" if several else kernel.name
        for kind, text in configuration.assembly.items():
            title = f"{kernel.name} ({configuration})"
            yield Stage(f"{graph}/{kind.value}/{name}", kind, graph, title, LANGUAGES[kind], text, kernel=kernel.name)


def kernel_stages(
    graph: str, code: TextSource, noted: Sequence[GpuKernel] = (), compile_id: str | None = None
) -> tuple[Stage, ...]:
    """One document for each kernel whose source is in the output code, and those that Triton made of it, where they are ``noted``."""
    sources = _source_stages(graph, code)
    known = [kernel for stage in sources if (kernel := kernel_named(noted, stage.kernel, compile_id)) is not None]
    return (*sources, *(stage for kernel in known for stage in assembly_stages(graph, kernel)))


def _source_stages(graph: str, code: TextSource) -> tuple[Stage, ...]:
    return tuple(
        Stage(
            f"{graph}/{StageKind.KERNEL.value}/{found.name}",
            StageKind.KERNEL,
            graph,
            found.name,
            "cpp" if found.backend.startswith("cpp") else "python",
            code,
            found.source,
            found.name,
        )
        for found in read_output_code(code.text() or "").definitions.values()
        if found.source is not None
    )
