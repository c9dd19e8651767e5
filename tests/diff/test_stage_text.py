"""What is noise in a stage, and what is not: names that are numbered otherwise say nothing, any other change is seen."""

from __future__ import annotations

import random
import re
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compile_lens.diff.stage_text import renumbered, without_noise
from compile_lens.stages.model import StageKind
from compile_lens.stages.opened import read_stages
from compile_lens.trace.files import trace_files

SINGLE = Path(__file__).parents[1] / "data" / "h200-single"
NODE = re.compile(r"\b(add|mul|view|permute|primals|getitem|buf|tmp|triton_per_fused_native_layer_norm)(_?)(\d+)\b")


@cache
def texts() -> tuple[str, ...]:
    (trace,) = trace_files(SINGLE)
    graph = read_stages(trace).graph("1_0/forward")
    assert graph is not None
    wanted = (StageKind.FORWARD, StageKind.POST_GRAD, StageKind.OUTPUT_CODE, StageKind.GUARDS)
    return tuple(stage.text for kind in wanted if (stage := graph.stage(kind)))


def shuffled(text: str, seed: int) -> str:
    """``text`` with other numbers for its nodes, buffers and kernels."""
    rng = random.Random(seed)
    numbers: dict[tuple[str, str], int] = {}
    free: dict[str, list[int]] = {}

    def other(match: re.Match[str]) -> str:
        base, bar, number = match.groups()
        pool = free.setdefault(base, rng.sample(range(1000, 2000), 500))
        if (base, number) not in numbers:
            numbers[base, number] = pool.pop()
        return f"{base}{bar}{numbers[base, number]}"

    return NODE.sub(other, text)


@settings(max_examples=15)
@given(st.integers(), st.integers(0, 3))
def test_numbers_of_names_are_noise(seed: int, which: int) -> None:
    text = texts()[which]
    assert without_noise(shuffled(text, seed)) == without_noise(text)
    assert renumbered(shuffled(text, seed)) == renumbered(text)


@pytest.mark.parametrize("which", range(4))
def test_it_is_done_once_and_keeps_lines(which: int) -> None:
    text = texts()[which]
    clean = without_noise(text)
    assert without_noise(clean) == clean
    assert clean.count("\n") == text.count("\n") == renumbered(text).count("\n")


@settings(max_examples=40)
@given(st.data())
def test_another_operator_size_or_constant_is_seen(data: st.DataObject) -> None:
    text = texts()[data.draw(st.integers(0, 2))]
    words = [
        found
        for pattern in (
            r"(?<=aten\.)\w+(?=\.)",
            r"(?<=tl\.)[a-z]+(?=\()",
            r"(?<=f32\[)\d+",
            r"\b0\.\d+\b",
            r"(?<=XBLOCK : )\w+",
        )
        for found in re.finditer(pattern, text)
    ]
    found = data.draw(st.sampled_from(words))
    changed = text[: found.start()] + ("9" if found[0][0].isdigit() else "other") + text[found.start() :]
    assert without_noise(changed) != without_noise(text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("# AOT ID: ['0_forward']", "# AOT ID: ['17_forward']"),
        ("# kernel path: /tmp/torchinductor_me/ab/cxyz.py", "# kernel path: /var/cache/torchinductor_you/x.py"),
        (
            "# File: /home/me/model.py:12 in forward, code: y = x",
            "# File: /tmp/checkout/copy.py:14 in forward, code: y = x",
        ),
        ("___check_obj_id(L['f'], 140234567890123)", "___check_obj_id(L['f'], 94028374650912)"),
        ("___check_type_id(L['x'], 10759232), type=<class 'x'>", "___check_type_id(L['x'], 9432), type=<class 'x'>"),
        ("<module 'torch.nn' from '/a/torch/nn/__init__.py'>", "<module 'torch.nn' from '/b/torch/nn/__init__.py'>"),
        ("tensor([[-0.0168, -0.1098,  ...,  0.1]],", "tensor([[ 0.0268,  0.2198,  ..., -0.1]],"),
        ("<Thing object at 0x7f00deadbeef>", "<Thing object at 0x55aa00112233>"),
        ("'backend_hash': '" + "AB" * 32 + "'", "'backend_hash': '" + "CD" * 32 + "'"),
        (
            "    # [Provenance debug handles] extern_kernels.mm:1",
            "    # [Provenance debug handles] extern_kernels.mm:30",
        ),
        ("Guard latency = 112.19 us", "Guard latency = 165.33 us"),
        ("triton_poi_fused_add_0:7", "triton_poi_fused_add_3:11"),
        ("f32[s77, 4]", "f32[s27, 4]"),
        ("def torch_dynamo_resume_in_forward_at_33(x):", "def torch_dynamo_resume_in_forward_at_35(x):"),
    ],
)
def test_noise(one: str, other: str) -> None:
    assert without_noise(one) == without_noise(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("torch.float16", "torch.float32"),
        ("torch.float8_e4m3fn", "torch.float8_e5m2"),
        ("tl.int64", "tl.int32"),
        ('"f16[4, 8]"', '"bf16[4, 8]"'),
        ("9223372036854775807", "140234567890123"),
        ("# File: /x/model.py:12 in forward, code: y = x", "# File: /x/model.py:12 in forward, code: y = z"),
        ("# File: /x/model.py:12 in forward, code: y = x", "# File: /x/model.py:12 in backward, code: y = x"),
        ("cc=90", "cc=80"),
        ("___check_type_id(L['x'], 9432), type=<class 'x'>", "___check_type_id(L['x'], 9432), type=<class 'y'>"),
        ("L['lr'] == 0.001", "L['lr'] == 0.01"),
        ("aten.add.Tensor(add_1, 1)", "aten.add.Tensor(add_1, 2)"),
        ("triton_poi_fused_add_0", "triton_per_fused_add_0"),
    ],
)
def test_no_noise(one: str, other: str) -> None:
    assert without_noise(one) != without_noise(other)


def test_which_of_two_values_is_used_is_told_by_numbers_alone() -> None:
    one = "sub = torch.ops.aten.sub.Tensor(arg0_1, arg1_1)"
    other = "sub = torch.ops.aten.sub.Tensor(arg1_1, arg0_1)"
    header = "def forward(self, arg0_1, arg1_1):\n"
    assert without_noise(header + one) == without_noise(header + other)
    assert renumbered(header + one) != renumbered(header + other)
