"""Counted operations: by hand for known graphs, and beside torch's own counter for many sizes."""

from __future__ import annotations

import itertools

import pytest

from compile_lens.knowledge.devices import find_device
from compile_lens.stages.roofline import Limit, estimate, peak
from compile_lens.stages.work import Work, matmul_operations, work_of
from compile_lens.trace.graph_text import parse_graph


def graph(inputs: dict[str, str], *lines: str) -> str:
    given = ", ".join(f'{name}: "{described}"' for name, described in inputs.items())
    return f"class GraphModule(torch.nn.Module):\n    def forward(self, {given}):\n" + "".join(
        f"        {line}\n" for line in lines
    )


def work(text: str, *names: str) -> Work | None:
    return work_of(names, {node.name: node for node in parse_graph(text)})


def described(shape: tuple[int, ...], dtype: str = "f32") -> str:
    strides = [1]
    for size in reversed(shape[1:]):
        strides.insert(0, strides[0] * size)
    return f"{dtype}[{', '.join(map(str, shape))}][{', '.join(map(str, strides))}]cuda:0"


def test_a_fused_layer_norm() -> None:
    text = graph(
        {"x": described((32, 64)), "w": described((64,))},
        "var_mean = torch.ops.aten.var_mean.correction(x, [1], correction = 0, keepdim = True)",
        'getitem: "f32[32, 1][1, 1]cuda:0" = var_mean[0]',
        'getitem_1: "f32[32, 1][1, 1]cuda:0" = var_mean[1];  var_mean = None',
        'add: "f32[32, 1][1, 1]cuda:0" = torch.ops.aten.add.Tensor(getitem, 1e-05);  getitem = None',
        'sub: "f32[32, 64][64, 1]cuda:0" = torch.ops.aten.sub.Tensor(x, getitem_1)',
        'mul: "f32[32, 64][64, 1]cuda:0" = torch.ops.aten.mul.Tensor(sub, w)',
        'view: "f32[2048][1]cuda:0" = torch.ops.aten.reshape.default(mul, [2048])',
    )
    elements = 32 * 64
    assert work(text, "var_mean", "getitem", "getitem_1", "add", "sub", "mul", "view") == Work(
        vector=elements + 32 + elements + elements
    )


def test_matrix_products_by_data_type() -> None:
    text = graph(
        {"b": described((192,), "bf16"), "x": described((32, 64), "bf16"), "w": described((64, 192), "bf16")},
        'addmm: "bf16[32, 192][192, 1]cuda:0" = torch.ops.aten.addmm.default(b, x, w);  b = x = w = None',
        'relu: "bf16[32, 192][192, 1]cuda:0" = torch.ops.aten.relu.default(addmm);  addmm = None',
    )
    assert work(text, "addmm", "relu") == Work((("bfloat16", 2 * 32 * 64 * 192),), vector=32 * 192)


def test_a_symbolic_size_is_unknown() -> None:
    text = graph(
        {"x": "f32[s0, 64][64, 1]cuda:0", "w": described((64, 8))},
        'mm: "f32[s0, 8][8, 1]cuda:0" = torch.ops.aten.mm.default(x, w)',
    )
    assert work(text, "mm") is None
    assert work(text, "nothing_of_that_name") is None


@pytest.mark.xdist_group("torch-in-this-process")
def test_as_torchs_own_counter_counts() -> None:
    from torch.utils import flop_counter as torchs

    for m, k, n in itertools.product((1, 3, 64), repeat=3):
        text = graph(
            {"a": described((m, k)), "b": described((k, n))},
            f'c: "{described((m, n))}" = torch.ops.aten.mm.default(a, b)',
        )
        assert count(text, "c") == torchs.mm_flop((m, k), (k, n))
    for heads, own, length, others in itertools.product((4, 8), (2, 4), (1, 16), (7, 16)):
        query, key, value = (2, heads, length, 32), (2, own, others, 32), (2, own, others, 16)
        inputs = {
            "g": described((2, heads, length, 16)),
            "q": described(query),
            "k": described(key),
            "v": described(value),
        }
        text = graph(
            inputs,
            "f = torch.ops.aten._scaled_dot_product_flash_attention.default(q, k, v)",
            "e = torch.ops.aten._scaled_dot_product_efficient_attention_backward.default(g, q, k, v, None)",
        )
        assert count(text, "f") == torchs.sdpa_flop_count(query, key, value)
        if heads == own:
            assert count(text, "e") == torchs.sdpa_backward_flop_count((2, heads, length, 16), query, key, value)
    for transposed, size in itertools.product((False, True), (1, 3)):
        given, weight, made = (2, 8, 16, 16), (8, 8, size, size), (2, 8, 18 - size, 18 - size)
        text = graph(
            {"x": described(given), "w": described(weight), "g": described(made)},
            f'y: "{described(made)}" = torch.ops.aten.convolution.default(x, w, None, [1, 1], [1, 1], [1, 1], {transposed}, [0, 0], 1)',
            "b = torch.ops.aten.convolution_backward.default(g, x, w, [8], [1, 1], [1, 1], [1, 1], "
            f"{transposed}, [0, 0], 1, [True, True, False])",
        )
        assert count(text, "y") == torchs.conv_flop_count(given, weight, made, transposed)
        assert count(text, "b") == torchs.conv_backward_flop.__wrapped__(
            made,
            given,
            weight,
            None,
            None,
            None,
            None,
            transposed,
            None,
            1,
            [True, True, False],
            out_shape=[given, weight],
        )


def count(text: str, name: str) -> int | None:
    nodes = {node.name: node for node in parse_graph(text)}
    return matmul_operations(nodes[name], nodes)


def test_what_limits_a_kernel_depends_on_the_device() -> None:
    h100, t4 = find_device("h100"), find_device("t4")
    copy = estimate(Work(vector=1_000_000), 8_000_000, h100)
    assert (copy.limit, round(copy.seconds * 1e6, 2)) == (Limit.MEMORY, 2.39)
    product = Work((("bfloat16", 2 * 4096**3),))
    moved = 3 * 4096**2 * 2
    assert estimate(product, moved, h100).limit is Limit.COMPUTE
    assert round(estimate(product, moved, h100).seconds * 1e6) == 139
    # no bfloat16 on the tensor cores of a T4, and float32 is not TF32 unless it is asked for
    assert peak(t4, "bfloat16") == t4.vector["float32"]
    assert peak(h100, "float32") == h100.vector["float32"]
