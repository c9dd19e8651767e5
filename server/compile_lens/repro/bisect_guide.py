"""What to read after a verdict: the stage, what the subsystem does, and the logs of that stage."""

from __future__ import annotations

from dataclasses import dataclass

from compile_lens.knowledge.entry import KnowledgeKind
from compile_lens.knowledge.lookup import Knowledge
from compile_lens.repro.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Reading:
    """``stage`` as users call it; ``meaning`` of the subsystem; ``logs`` are values of TORCH_LOGS; ``advice`` is what to do."""

    stage: str
    meaning: str
    logs: tuple[str, ...]
    advice: str


# (stage, logs, what to do) by "backend" or "backend/subsystem"
_GUIDE: dict[str, tuple[str, tuple[str, ...], str]] = {
    "eager": (
        "Dynamo",
        ("+dynamo", "graph_code", "bytecode"),
        "Compare the traced graph with the function, line by line.",
    ),
    "aot_eager": (
        "AOTAutograd",
        ("aot_graphs", "aot_joint_graph"),
        "Look for views, mutations of inputs and custom backward functions.",
    ),
    "aot_eager_decomp_partition": (
        "decompositions and partitioner",
        ("aot_graphs", "aot_joint_graph"),
        "Compare the forward and backward graphs with the joint one.",
    ),
    "aot_eager_decomp_partition/decomposition": (
        "decomposition",
        ("aot_graphs", "aot_joint_graph"),
        "Call the decomposition, a plain Python function, and the operator with the same inputs.",
    ),
    "aot_eager_decomp_partition/cse": (
        "common subexpressions",
        ("aot_graphs",),
        "Look for operations that are merged although they differ: random numbers, mutations.",
    ),
    "aot_eager_decomp_partition_crossref": (
        "fake tensors",
        ("+aot", "aot_graphs"),
        "Look for an operator whose meta kernel returns another shape, stride or dtype than its kernel.",
    ),
    "inductor": (
        "Inductor",
        ("schedule", "fusion", "output_code"),
        "No part that torch can disable is at fault: look at scheduling, memory planning and code generation.",
    ),
    "inductor/pre_grad_passes": (
        "pre-grad passes",
        ("pre_grad_graphs",),
        "Compare the graph before and after the pass.",
    ),
    "inductor/pre_grad_graph": ("pre-grad graph", ("pre_grad_graphs",), "Compare the graph before and after."),
    "inductor/joint_graph_passes": (
        "joint-graph passes",
        ("aot_joint_graph", "aot_graphs"),
        "Compare the joint graph before and after the pass.",
    ),
    "inductor/post_grad_passes": (
        "post-grad passes",
        ("post_grad_graphs",),
        "Compare the graph before and after the pass.",
    ),
    "inductor/cudagraphs": (
        "CUDA graphs",
        ("cudagraphs",),
        "Look for memory that is reused between runs, and for inputs that move.",
    ),
    "inductor/lowerings": (
        "lowering and code generation",
        ("post_grad_graphs", "ir_pre_fusion", "output_code"),
        "The operator is correct as its own kernel: read its lowering, and then its generated code.",
    ),
    "inductor/fallback_random": (
        "random numbers",
        ("post_grad_graphs", "output_code"),
        "Random numbers differ from eager by design; set `torch._inductor.config.fallback_random = True` to compare.",
    ),
    "inductor/emulate_precision_casts": (
        "precision",
        ("output_code",),
        "Usually not a bug: fused kernels keep more precision than eager. Compare both with float64.",
    ),
    "inductor/layout_optimization": (
        "memory layout",
        ("post_grad_graphs", "output_code"),
        "Look at the strides of the surrounding convolutions.",
    ),
    "inductor/comprehensive_padding": (
        "padding",
        ("output_code",),
        "Look at the strides of the kernels' inputs and outputs.",
    ),
}


def subsystem_name(verdict: Verdict) -> str:
    """``inductor/lowerings``; torch's ``inductor_fallback_random`` becomes ``inductor/fallback_random``."""
    if not verdict.subsystem:
        return verdict.backend
    return f"{verdict.backend}/{verdict.subsystem.removeprefix(verdict.backend + '_')}"


def reading(verdict: Verdict, knowledge: Knowledge) -> Reading:
    """What to read for ``verdict``; an unknown subsystem gets the guide of its backend."""
    name = subsystem_name(verdict)
    stage, logs, advice = _GUIDE.get(name) or _GUIDE.get(verdict.backend, (verdict.backend, ("+inductor",), ""))
    entry = knowledge.get(KnowledgeKind.BISECT, name) or knowledge.get(KnowledgeKind.BISECT, verdict.backend)
    meaning = " ".join((entry.ours or entry.theirs).split()) if entry is not None else ""
    return Reading(stage, meaning, logs, advice)
