"""The solver: what it finds always runs in eager, whatever the layers are, and it ends within its budget."""

from __future__ import annotations

import ast
import os
from types import ModuleType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.entries.agent_package import agent_module

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

target = agent_module("inputs.synthesis.target")
shapes = agent_module("inputs.synthesis.source.shape_text")
dimensions = agent_module("inputs.synthesis.terms.dimensions")
expressions = agent_module("inputs.calling.expressions")
messages = agent_module("inputs.synthesis.errors.messages")

FEW = settings(max_examples=2, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
SIZE = st.integers(2, 40)


def module_of(source: str) -> ModuleType:
    module = ModuleType("solved")
    exec(compile(source, "<solved>", "exec"), module.__dict__)
    return module


def check(source: str, name: str = "Net", trials: int = 60) -> str:
    """The call that is found; made here, it comes back."""
    module = module_of(source)
    budget = target.SearchBudget(trials=trials, seconds=120)
    found = target.find_call(module, name, budget)
    assert budget.trials >= 0
    expressions.evaluate(found.expression, vars(module)).run()
    return str(found.expression)


NET = """
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        {init}
    def forward(self, {parameters}):
        {body}
"""


def net(init: str, body: str, parameters: str = "x") -> str:
    return NET.format(init=init, body=body, parameters=parameters)


@FEW
@given(SIZE, SIZE, st.sampled_from(["a", "value", "x", "hidden_states", "images", "tokens"]))
def test_chains_of_linear_layers(width: int, inner: int, name: str) -> None:
    init = f"self.f = nn.Linear({width}, {inner}); self.g = nn.Linear({inner}, 3)"
    check(net(init, f"y = {name} * 1.0; return self.g(self.f(y).relu())", name))


@FEW
@given(SIZE, st.integers(1, 5), st.integers(3, 12), st.booleans())
def test_a_convolution_whose_result_is_flattened(channels: int, out: int, side: int, pooled: bool) -> None:
    pixels = side // 2 if pooled else side
    pool = "y = nn.functional.max_pool2d(y, 2)" if pooled else "pass"
    init = f"self.c = nn.Conv2d({channels}, {out}, 3, padding=1); self.f = nn.Linear({out * pixels * pixels}, 2)"
    check(net(init, f"y = self.c(x); {pool}\n        return self.f(torch.flatten(y, 1))"))


@FEW
@given(st.sampled_from([2, 3, 4, 6]), st.integers(2, 9), st.integers(2, 64))
def test_assertions_and_views_of_the_program(heads: int, width: int, length: int) -> None:
    dim = heads * width
    body = (
        f"B, T, C = x.shape\n        assert C == {dim}\n        assert T % {heads} == 0 and T >= {heads}\n"
        f"        if T > {length + heads}: raise ValueError('too long')\n"
        f"        return x.view(B, T, {heads}, C // {heads}).sum()"
    )
    check(net("pass", body))


@FEW
@given(st.integers(2, 60), SIZE)
def test_integers_stay_in_range(rows: int, width: int) -> None:
    init = f"self.e = nn.Embedding({rows}, {width}); self.p = nn.Embedding(7, {width})"
    expression = check(net(init, "return self.e(ids) + self.p(torch.arange(ids.shape[1]))", "ids"))
    (limit,) = [node.comparators[0] for node in ast.walk(ast.parse(expression)) if isinstance(node, ast.Compare)]
    assert ast.literal_eval(limit) <= rows


@FEW
@given(st.integers(0, 5), st.integers(1, 12))
def test_it_ends_where_there_is_nothing_to_find(words: int, trials: int) -> None:
    raised = [
        "ValueError('no')",
        "TypeError('expected 3D input')",
        "IndexError('index out of range')",
        "KeyError(x.shape)",
    ]
    source = net("pass", f"assert x.shape[0] + 1 == x.shape[0], 'never'; raise {raised[words % 4]}")
    budget = target.SearchBudget(trials=trials, seconds=60)
    with pytest.raises(target.NotFound):
        target.find_call(module_of(source), "Net", budget)
    assert budget.trials == 0 or budget.trials < trials


@FEW
@given(st.integers(1, 200), st.integers(1, 200), st.integers(0, 400))
def test_an_answer_turns_the_question_and_keeps_the_others(first: int, second: int, total: int) -> None:
    unknowns = dimensions.Unknowns()
    unknowns.get("a", first)
    unknowns.get("b", second)
    kept = dimensions.SizeCondition("b == 3", (("b", "b"),), False)
    wanted = dimensions.SizeCondition(f"a + b == {total}", (("a", "a"), ("b", "b")), first + second == total)
    for values in dimensions.solutions(unknowns, wanted, [kept] if second != 3 else []):
        assert (values["a"] + values["b"] == total) is not wanted.answer
        assert values["b"] == 3 or second == 3
        assert min(values.values()) >= 1


@pytest.mark.parametrize(
    ("text", "dims"),
    [
        ("(B, T, C)", ("B", "T", "C")),
        ("Tensor of shape [batch, seq_len, 64], the states", ("batch", "seq_len", "64")),
        ("images of shape (N, 3, H, W).", ("N", "3", "H", "W")),
        ("a tensor B x C x H x W", ("B", "C", "H", "W")),
        ("`torch.FloatTensor` of shape `(batch_size, sequence_length)`, *optional*", ("batch_size", "sequence_length")),
        ("(*optional*, defaults to 0.1)", None),
        ("the mask (see above)", None),
        ("float, 0x10 is a number", None),
        ("[...] LongTensor, ids of any shape", None),
        (
            "The elements. Size BATCH x SIZE OF SEQUENCE x self.inputSize",
            ("BATCH", "SIZE_OF_SEQUENCE", "self.inputSize"),
        ),
        ("of size: batch x channels x rows. More", ("batch", "channels", "rows")),
    ],
)
def test_shapes_in_sentences(text: str, dims: tuple[str, ...] | None) -> None:
    assert shapes.written_shape(text) == dims


@pytest.mark.parametrize(
    ("annotation", "shape"),
    [
        ('Float[Tensor, "batch 3 h w"]', ("float32", ("batch", "3", "h", "w"))),
        ("Int[torch.Tensor, 'b t']", ("int64", ("b", "t"))),
        ('Bool[Tensor, "... n"]', ("bool", ("n",))),
        ("torch.Tensor", None),
    ],
)
def test_annotated_shapes(annotation: str, shape: tuple[str, tuple[str, ...]] | None) -> None:
    assert shapes.annotated_shape(annotation) == shape


READ = {
    "annotation": ("def f(x: 'Float[Tensor, \"b 5 c\"]'):\n    return x.sum()", "f(x=float32[2, 5, 16])"),
    "comment": ("def f(\n    x,  # (B, 7)\n):\n    return x.sum()", "f(x=float32[2, 7])"),
    "google": (
        'def f(ids):\n    """Sum.\n\n    Args:\n        ids: token ids of shape (B, 9).\n    """\n    return ids.sum()',
        "f(ids=int64[2, 9] < 100)",
    ),
    "numpydoc": (
        'def f(x):\n    """Sum.\n\n    Parameters\n    ----------\n    x : Tensor, shape (N, 11)\n    """\n    return x.sum()',
        "f(x=float32[2, 11])",
    ),
    "unpacked": ("def f(x):\n    b, h, w, c = x.shape\n    return x.sum() + c", "f(x=float32[2, 32, 32, 16])"),
    "einops": (
        "def rearrange(x, p): return x\ndef f(x):\n    return rearrange(x, 'b 6 c -> c')",
        "f(x=float32[2, 6, 16])",
    ),
}


@pytest.mark.parametrize("source", sorted(READ))
def test_shapes_that_the_source_tells(source: str, tmp_path: object) -> None:
    from pathlib import Path

    text, expected = READ[source]
    file = Path(str(tmp_path)) / f"told_{source}.py"
    file.write_text(f"import torch\n{text}\n")
    wire = agent_module("runtime.wire").Wire(os.open(os.devnull, os.O_WRONLY))
    module = agent_module("inputs.importing.module").load(str(file), file.read_text(), wire)
    found = target.find_call(module, "f", target.SearchBudget(trials=10, seconds=60))
    assert found.expression == expected


def test_a_written_tensor_is_what_it_says() -> None:
    import torch

    make = expressions.evaluate(
        "f(float32[2, 3], int64[4] < 5, int32[2] == 1, bool[2, 2], n=[float16[1]])", {"f": lambda *a, n: (*a, n)}
    )
    floats, below, ones, mask, (half,) = make.run()
    assert (floats.dtype, floats.shape) == (torch.float32, (2, 3))
    assert below.max() < 5 and below.dtype is torch.int64
    assert ones.tolist() == [1, 1] and ones.dtype is torch.int32
    assert (mask.dtype, half.dtype) == (torch.bool, torch.float16)


FREE = """
import torch
def product(p, q, w, b):
    {asserted}
    return (p @ w) * q + b
"""


@FEW
@given(
    st.sampled_from(["pass", "assert w.shape[0] == {n}", "assert p.dim() == 2 and w.shape[-1] == {n}"]),
    st.integers(2, 40),
)
def test_sizes_that_many_tensors_share(asserted: str, number: int) -> None:
    """What is found runs; where nothing is, the search has come to its end."""
    try:
        check(FREE.format(asserted=asserted.format(n=number)), "product", trials=8)
    except target.NotFound as problem:
        assert "AssertionError" in str(problem)


def test_nothing_is_looked_for_when_the_time_is_over() -> None:
    unknowns = dimensions.Unknowns()
    unknowns.get("a", 16)
    unknowns.get("b", 16)
    question = dimensions.SizeCondition("a * b == 64 * 3", (("a", "a"), ("b", "b")), False)
    found = next(dimensions.solutions(unknowns, question, ()))
    assert found["a"] * found["b"] == 192
    assert list(dimensions.solutions(unknowns, question, (), end=0.0)) == []


def test_a_constructor_whose_arguments_are_all_by_name() -> None:
    source = """
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self, *, image_size, patch_size, dim, depth, channels=3):
        super().__init__()
        assert image_size % patch_size == 0, "the image must be divisible by the patch"
        self.patch_size = patch_size
        self.embed = nn.Linear(channels * patch_size**2, dim)
        self.blocks = nn.ModuleList([nn.Linear(dim, dim) for _ in range(depth)])
    def forward(self, img):
        b, c, h, w = img.shape
        p = self.patch_size
        x = img.reshape(b, c, h // p, p, w // p, p).permute(0, 2, 4, 3, 5, 1).reshape(b, -1, p * p * c)
        x = self.embed(x)
        for block in self.blocks:
            x = block(x)
        return x
"""
    assert check(source).startswith("Net(image_size=")


def test_a_layer_with_a_pattern_of_einops() -> None:
    source = """
import torch
from torch import nn
class Patches(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.pattern, self.size = "b c (h p1) (w p2) -> b (h w) (p1 p2 c)", size
    def forward(self, x):
        b, c, h, w = {4: tuple(x.shape)}[x.ndim]
        return nn.functional.unfold(x, self.size, stride=self.size).transpose(1, 2)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Sequential(Patches(8), nn.LayerNorm(192), nn.Linear(192, 32))
    def forward(self, img):
        return self.embed(img)
"""
    call = ast.parse(check(source), mode="eval").body
    assert "2, 3, " in ast.unparse(call)


@pytest.mark.parametrize("operation", ["torch.gather(rows, 0, rows)", "rows.index_select(0, rows[0])", "rows[rows]"])
def test_an_index_that_is_no_integer_is_recognized_by_what_torch_says(operation: str) -> None:
    import torch

    with pytest.raises((RuntimeError, IndexError)) as caught:
        eval(operation, {"torch": torch, "rows": torch.ones(2, 2)})
    required = [(each.kind, each.value) for each in messages.requirements(caught.value)]
    assert ("dtype", "int64") in required
