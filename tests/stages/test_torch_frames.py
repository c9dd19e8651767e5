"""Functions of torch's that are written in Python are traced like the user's; what is linked is the line that calls them."""

from __future__ import annotations

from dataclasses import dataclass

from compile_lens.stages.links import links_of, names_torch
from compile_lens.stages.model import Kernel, KernelKind, SourceSpan, Stage, StageKind
from compile_lens.stages.provenance import own_place

USER = SourceSpan("/home/me/model.py", 29)
OTHER = SourceSpan("/home/me/model.py", 31)
MODEL = SourceSpan("/opt/lib/python3.11/site-packages/transformers/model.py", 7)
TORCH = SourceSpan("/opt/lib/python3.11/site-packages/torch/nn/functional.py", 3006)
GRAPH = """\
class GraphModule(torch.nn.Module):
    def forward(self, arg0_1: "f32[4, 8]"):
        # File: /home/me/model.py:28 in forward, code: x = x * 2
        mul: "f32[4, 8]" = torch.ops.aten.mul.Tensor(arg0_1, 2);  arg0_1 = None

        # File: /opt/lib/python3.11/site-packages/torch/nn/functional.py:3006 in rms_norm, code: return torch.rms_norm(
        rsqrt: "f32[4, 1]" = torch.ops.aten.rsqrt.default(mul);  mul = None
        return (rsqrt,)
"""


@dataclass(frozen=True)
class Text:
    content: str

    def text(self) -> str:
        return self.content


def printed(text: str) -> Stage:
    return Stage("0_0/forward/post_grad", StageKind.POST_GRAD, "0_0/forward", "", "python", Text(text))


def kernel(*stacks: tuple[SourceSpan, ...]) -> Kernel:
    return Kernel("cpp_fused_0", "cpp_fused_0:1", KernelKind.CPP, "0_0/forward", stacks=stacks)


def test_the_place_is_the_innermost_outside_of_torch() -> None:
    assert own_place((USER, TORCH)) == USER
    assert own_place((USER, MODEL, TORCH, TORCH)) == MODEL
    assert own_place((USER, MODEL)) == MODEL
    assert own_place((TORCH,)) == TORCH


def test_nodes_that_torch_has_a_line_of_its_own_for_lead_to_the_callers() -> None:
    stage = printed(GRAPH)
    assert names_torch(stage)
    sources = links_of(stage, [kernel((USER, TORCH), (OTHER, TORCH))], ()).sources
    assert sources[4] == (SourceSpan("/home/me/model.py", 28),)
    assert sources[6] == sources[7] == (USER, OTHER)
    assert not names_torch(printed(GRAPH.replace("torch/nn", "models")))
