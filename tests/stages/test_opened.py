"""Stages, kernels and links of a real GPU trace, with no torch and nothing but the trace (torch 2.11 on an H200)."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from compile_lens.stages.model import Direction, KernelKind, StageKind
from compile_lens.stages.opened import OpenedStages, read_stages
from compile_lens.trace.builder import read_report
from compile_lens.trace.files import trace_files
from compile_lens.trace.stack_text import parse_stack

DATA = Path(__file__).parent.parent / "data"
SINGLE = DATA / "h200-single"
PROGRAM = "/cluster/job/gpu_single.py"


@cache
def single() -> OpenedStages:
    (trace,) = trace_files(SINGLE)
    return read_stages(trace)


def test_a_training_frame_has_its_graphs_in_both_directions() -> None:
    forward, backward = (single().graph(f"1_0/{direction}") for direction in ("forward", "backward"))
    assert forward is not None and backward is not None
    assert [stage.kind.value for stage in forward.documents] == [
        "dynamo",
        "guards",
        "pre_grad_before",
        "pre_grad",
        "joint",
        "forward",
        "post_grad_before",
        "post_grad",
        "output_code",
    ]
    assert [stage.kind.value for stage in backward.documents] == [
        "backward",
        "post_grad_before",
        "post_grad",
        "output_code",
    ]
    assert (forward.function, forward.file, forward.line) == ("forward", PROGRAM, 30)


def test_the_direction_is_that_of_the_code() -> None:
    for graph in single().graphs:
        code = graph.stage(StageKind.OUTPUT_CODE)
        if code is not None:
            assert f"_{graph.direction.value}']" in code.text.partition("\n")[0]


def test_every_document_opens() -> None:
    for graph in single().graphs:
        assert graph.direction is not Direction.NOT_LOWERED
        for stage in graph.stages:
            assert stage.text.strip(), stage.id
            assert single().stage(stage.id) == stage


def test_a_kernel_s_own_document_is_its_source() -> None:
    stage = single().stage("1_0/forward/kernel/triton_per_fused_native_layer_norm_0")
    assert stage is not None
    assert stage.text.startswith("import triton\n")
    assert stage.text.rstrip().endswith("tl.store(out_ptr0 + (x0), tmp10, xmask)")


def test_kernels_have_torch_s_own_stacks_as_sources() -> None:
    """Each table of torch's is that of a graph, with the innermost lines of its stacks. A backward graph's has others' kernels, too."""
    (trace,) = trace_files(SINGLE)
    expected = [
        {
            call: {frames[-1].line for text in stacks if (frames := parse_stack(text))}
            for call, stacks in json.loads(artifact.payload.text() or "{}").items()
        }
        for artifact in read_report(trace).artifacts
        if artifact.name == "inductor_provenance_tracking_kernel_stack_traces"
    ]
    found = [
        {kernel.call: {span.line for span in kernel.sources} for kernel in graph.kernels if not kernel.is_by_frame}
        for graph in single().graphs
        if graph.stage(StageKind.OUTPUT_CODE)
    ]
    assert expected
    for table in expected:
        assert any(one and all(table.get(call) == lines for call, lines in one.items() if lines) for one in found)


def test_a_line_leads_to_its_kernels_and_back() -> None:
    kernels = single().kernels_at(PROGRAM, 18)
    assert {kernel.kind for kernel in kernels if kernel.graph == "1_0/forward"} >= {KernelKind.FALLBACK}
    assert "torch.ops.aten._scaled_dot_product_efficient_attention.default" in {kernel.name for kernel in kernels}
    assert any(kernel.graph == "1_0/backward" for kernel in kernels)
    code = single().stage("1_0/forward/output_code")
    assert code is not None
    lines = code.text.split("\n")
    at = single().lines_at(code, PROGRAM, 18)
    assert any("_scaled_dot_product_efficient_attention.default(" in lines[number - 1] for number in at)
    for number in at:
        assert any(span.line == 18 for span in single().links_of(code).sources[number])


@pytest.mark.parametrize("stage", ["1_0/forward/dynamo", "1_0/forward/joint", "1_0/backward/post_grad"])
def test_a_line_of_a_graph_leads_to_its_source(stage: str) -> None:
    opened = single().stage(stage)
    assert opened is not None
    lines = opened.text.split("\n")
    for number, (span,) in single().links_of(opened).sources.items():
        above = next(line for line in reversed(lines[:number]) if "File: " in line)
        assert f"{span.file}:{span.line} in " in above


def test_lines_reach_what_they_call() -> None:
    calls = {kernel.call for kernel in single().kernels_at(PROGRAM, 32)}
    assert calls < {kernel.call for kernel in single().kernels_at(PROGRAM, 32, callers=True)}
