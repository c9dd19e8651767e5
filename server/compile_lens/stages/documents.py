"""Names the documents of a graph, and the language of each."""

from __future__ import annotations

from compile_lens.stages.model import Stage, StageKind, TextSource
from compile_lens.stages.output_code import read_output_code

LANGUAGES = {
    StageKind.GUARDS: "plaintext",
    StageKind.TTIR: "mlir",
    StageKind.TTGIR: "mlir",
    StageKind.LLIR: "llvm",
    StageKind.PTX: "ptx",
    StageKind.SASS: "plaintext",
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


def kernel_stages(graph: str, code: TextSource) -> tuple[Stage, ...]:
    """One document for each kernel whose source is in the output code."""
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
