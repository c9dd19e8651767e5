"""Functions with a gradient of their own (`torch.autograd.Function`) count among what an analysis is about."""

from __future__ import annotations

from compile_lens.analysis.coverage import measure
from compile_lens.analysis.outcome_parts import NotCalled
from compile_lens.syntax.tree import parse

PROGRAM = """\
import torch
from torch.autograd import Function


class Rounded(Function):
    @staticmethod
    def forward(ctx, x):
        return torch.round(x)

    @staticmethod
    def backward(ctx, gradient):
        return gradient


class Gated(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, gate):
        return x * gate.open

    @staticmethod
    def backward(ctx, gradient):
        return gradient, None


class Net(torch.nn.Module):
    def forward(self, x):
        return Rounded.apply(x)
"""


def test_one_counts_where_a_module_applied_it_and_the_other_has_a_call_to_complete() -> None:
    not_called = [NotCalled("Gated.apply", "TypeError: no", "Gated.apply(float32[2], 2)")]
    found = measure(parse(PROGRAM), ["Net", "Rounded.forward"], [7, 28], [7, 11, 17, 21, 28], not_called)
    assert found is not None
    units = {unit.name: (unit.is_module, unit.reason, unit.draft) for unit in found.units}
    assert units == {
        "Rounded.apply": (False, "", ""),
        "Gated.apply": (False, "TypeError: no", "Gated.apply(float32[2], 2)"),
        "Net": (True, "", ""),
    }
