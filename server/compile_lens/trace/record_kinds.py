"""Kinds of records that need no reader of their own (torch 2.6 to 2.13)."""

from __future__ import annotations

# Kinds that are known and hold nothing that the report needs.
PASSED_OVER = frozenset(
    {
        "chromium_event",
        "describe_storage",
        "create_unbacked_symbol",
        "guard_added_fast",
        "expression_created",
        "propagate_real_tensors",
        "evaluate_expression",
        "dump_file",
        "compilation_metrics_runtime",
        "bwd_compilation_metrics_runtime",
        "link",
        "stack",
        "optimize_ddp_split_graph",
        "optimize_ddp_split_child",
        "compiled_autograd_graph",
        "graph_dump",
        "aten_repro",
        "unbacked_symbol_failed",
        "rank",
    }
)
# Records of their own whose payload is a stage of the compiler.
STAGES = frozenset(
    {
        "dynamo_output_graph",
        "dynamo_guards",
        "dynamo_cpp_guards_str",
        "aot_joint_graph",
        "aot_forward_graph",
        "aot_backward_graph",
        "aot_inference_graph",
        "aot_forward_graph_fw_metadata",
        "inductor_pre_grad_graph",
        "inductor_post_grad_graph",
        "inductor_output_code",
    }
)
