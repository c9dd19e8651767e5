"""The picture of a graph: its kernels, their nodes, and an order that is that of the code."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from compile_lens.knowledge.devices import find_device
from compile_lens.stages.costs import costs_of
from compile_lens.stages.figures import bytes_text, operations_text, seconds_text
from compile_lens.stages.opened import OpenedStages, read_stages
from compile_lens.stages.picture import picture_of
from compile_lens.trace.files import trace_files

SINGLE = Path(__file__).parents[1] / "data" / "h200-single"


@cache
def single() -> OpenedStages:
    (trace,) = trace_files(SINGLE)
    return read_stages(trace)


def test_every_kernel_is_a_box_and_every_edge_leads_forward() -> None:
    for graph in single().graphs:
        picture = picture_of(graph)
        assert [group.kernel for group in picture.groups] == list(graph.kernels)
        assert all(first < second for first, second, _ in picture.edges)
        for group in picture.groups:
            assert {node.name for node in group.nodes} <= set(group.kernel.nodes)
            assert all(first < second for first, second in group.edges)


def test_kernels_are_joined_by_what_flows() -> None:
    graph = single().graph("1_0/forward")
    assert graph is not None
    picture = picture_of(graph)
    names = [group.kernel.name for group in picture.groups]
    joined = {(names[first], names[second]) for first, second, _ in picture.edges}
    assert ("triton_per_fused_native_layer_norm_0", "extern_kernels.addmm") in joined
    assert ("extern_kernels.addmm", "torch.ops.aten._scaled_dot_product_efficient_attention.default") in joined
    # the mean and the variance are parts of a node, which torch does not name
    norm = picture.groups[0]
    order = [norm.nodes[first].target + " > " + norm.nodes[second].target for first, second in norm.edges]
    assert "torch.ops.aten.var_mean.correction > torch.ops.aten.sub.Tensor" in order


def test_operations_of_known_kernels() -> None:
    graph = single().graph("1_0/forward")
    assert graph is not None
    costs = dict(zip((kernel.name for kernel in graph.kernels), costs_of(graph, find_device("h200")), strict=True))
    product = costs["extern_kernels.addmm"].work
    assert product is not None
    # x: [256, 128], weight: [128, 384]
    assert product.matmul == (("float32", 2 * 256 * 128 * 384),)
    attention = costs["torch.ops.aten._scaled_dot_product_efficient_attention.default"].work
    assert attention is not None
    # 4 sequences of 64, 4 heads of 32: scores, and their product with the values
    assert attention.matmul == (("float32", 2 * (2 * 4 * 4 * 64 * 64 * 32)),)


def test_figures_as_people_read_them() -> None:
    assert [bytes_text(count) for count in (0, 12, 1500, 1_536_000, 3e9)] == ["0 B", "12 B", "1.5 kB", "1.5 MB", "3 GB"]
    assert (operations_text(786_432), operations_text(0)) == ("786 kFLOP", "0 FLOP")
    assert (seconds_text(2.388e-6), seconds_text(0.000139)) == ("2.4 µs", "139 µs")
