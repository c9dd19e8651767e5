"""Kernels that no wrapper of Python calls at its top: those of branches of ``torch.cond``, and those that a wrapper of C++ calls."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from compile_lens.stages.collection import OpenedStages
from compile_lens.stages.model import Graph, KernelKind, StageKind
from compile_lens.stages.opened import read_stages
from compile_lens.stages.output_code import read_output_code

DATA = Path(__file__).parent.parent / "data" / "stages"


@cache
def opened(name: str) -> tuple[OpenedStages, list[str]]:
    return read_stages(DATA / f"{name}_2.13.log.gz"), (DATA / f"{name}.py").read_text().split("\n")


def line_with(name: str, code: str) -> int:
    return next(number for number, line in enumerate(opened(name)[1], 1) if code in line)


def assert_linked(stages: OpenedStages, graph: Graph) -> None:
    code = graph.stage(StageKind.OUTPUT_CODE)
    assert code is not None
    links = stages.links_of(code)
    for kernel in graph.kernels:
        assert kernel.sources and not kernel.is_by_frame, kernel.call
        for part in kernel.lines:
            assert all(kernel.call in links.kernels[line] for line in range(part.first, part.last + 1))
    own = {stage.kernel for stage in graph.stages if stage.kind is StageKind.KERNEL}
    assert own == {kernel.name for kernel in graph.kernels if kernel.kind is KernelKind.CPP}


def test_the_kernels_of_a_branch() -> None:
    stages, _ = opened("passes")
    graph = stages.graph("1_0/inference")
    assert graph is not None
    assert_linked(stages, graph)
    of_line = stages.kernels_at("/cluster/job/passes.py", line_with("passes", "torch.cond"))
    assert {kernel.call for kernel in of_line} == {kernel.call for kernel in graph.kernels}
    # the scheduler's estimates of the branch, not those of the node that calls it
    sizes = {tuple(sorted(kernel.operators)): (kernel.bytes_read, kernel.bytes_written) for kernel in graph.kernels}
    assert sizes == {
        ("aten.mm",): (128, 64),
        ("aten.add", "aten.sin"): (64, 64),
        ("aten.cos",): (64, 64),
    }
    for kind in (StageKind.IR_PRE_FUSION, StageKind.IR_POST_FUSION):
        stage = graph.stage(kind)
        assert stage is not None
        told = stages.links_of(stage).kernels
        assert {call for calls in told.values() for call in calls} == {kernel.call for kernel in graph.kernels}


def test_the_kernels_of_a_wrapper_of_cpp() -> None:
    stages, _ = opened("cpp_wrapper")
    forward, backward = stages.graphs
    for graph in (forward, backward):
        assert_linked(stages, graph)
    assert [(kernel.kind.value, kernel.name) for kernel in forward.kernels] == [
        ("extern", "aoti_torch_cpu_addmm_out"),
        ("cpp", "cpp_fused_gelu_native_layer_norm_native_layer_norm_backward_0"),
        ("extern", "aoti_torch_cpu_mm_out"),
        ("cpp", "cpp_fused__softmax_sum_1"),
    ]
    assert forward.kernels[0].operators == ("aten.addmm",) and forward.kernels[2].operators == ("aten.mm",)
    assert forward.kernels[2].bytes_read == 2 * 16 * 16 * 4 and forward.kernels[2].bytes_written == 16 * 16 * 4
    line = line_with("cpp_wrapper", "F.layer_norm")
    of_line = stages.kernels_at("/cluster/job/cpp_wrapper.py", line)
    assert {kernel.graph for kernel in of_line} == {forward.id, backward.id}
    (source,) = (stage for stage in forward.stages if stage.kernel == "cpp_fused__softmax_sum_1")
    assert source.language == "cpp" and source.text.startswith('extern "C"  void  cpp_fused__softmax_sum_1(')
    assert source.text.rstrip().endswith("}")


CUDA = """\
static CUfunction triton_poi_fused_add_0 = nullptr;
static const char* triton_poi_fused_add_0_source = R"TRITON(
async_compile.triton('triton_poi_fused_add_0', \'\'\'
import triton
@triton.jit
def triton_poi_fused_add_0(in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    pass
\'\'\', device_str='cuda')

)TRITON";
static __attribute__((noinline)) void call_triton_poi_fused_add_0(
){
    launchKernel(triton_poi_fused_add_0, grid_0);
}

void inductor_entry_impl(
    AtenTensorHandle* input_handles
) {
    // Topologically Sorted Source Nodes: [add], Original ATen: [aten.add]
    // [Provenance debug handles] triton_poi_fused_add_0:1
    cudaStream_t stream0;
    call_triton_poi_fused_add_0(arg0_1, buf0, 4L, 0, stream0);
    // [Provenance debug handles] torch.ops.aten.index_reduce.default:2
    aoti_torch_call_dispatcher("aten::index_reduce", "", stack);
}
"""


def test_triton_kernels_of_a_wrapper_of_cpp() -> None:
    """As torch 2.13 writes it for a GPU."""
    code = read_output_code(CUDA)
    lines = CUDA.split("\n")
    (defined,) = code.definitions.values()
    assert defined.source is not None and defined.backend == "triton"
    assert lines[defined.source.first - 1] == "import triton" and lines[defined.source.last - 1].strip() == "pass"
    assert [(call.name, call.handle) for call in code.calls] == [
        ("triton_poi_fused_add_0", "triton_poi_fused_add_0:1"),
        ("torch.ops.aten.index_reduce.default", "torch.ops.aten.index_reduce.default:2"),
    ]
    assert code.calls[0].comments.aten == ("aten.add",)
    assert lines[code.calls[0].line - 1].startswith("    call_triton")
