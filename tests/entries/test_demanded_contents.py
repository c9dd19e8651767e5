"""Tensors whose numbers have the form that a program demands, in words or by the condition that it raises for."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from tests.entries.agent_package import agent_module, imported

from compile_lens.entries.call_grammar import written_call
from compile_lens.syntax.tree import parse

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

target = agent_module("inputs.synthesis.target")
expressions = agent_module("inputs.calling.expressions")

MODULES = """\
import torch
from torch import Tensor, nn


class Mixed(nn.Module):
    def __init__(self, fractions: Tensor, table: Tensor):
        super().__init__()
        if fractions.ndim != 2:
            raise ValueError("fractions must be a matrix")
        if table.shape != (fractions.shape[1], fractions.shape[1]):
            raise ValueError("the table must be a square matrix")
        if bool((fractions < 0.0).any()):
            raise ValueError("fractions cannot be negative")
        rows = fractions.sum(dim=-1)
        if not torch.allclose(rows, torch.ones_like(rows)):
            raise ValueError("each row of fractions must sum to one")
        if not torch.allclose(table, table.mT):
            raise ValueError("the table must be symmetric")
        self.register_buffer("fractions", fractions)

    def forward(self, x):
        return x * self.fractions.sum()


class Shared(nn.Module):
    def __init__(self, weights):
        super().__init__()
        assert abs(sum(weights) - 1.0) < 1e-6, "weights must sum to 1"
        self.weights = weights

    def forward(self, x):
        return x * self.weights[0]


class Entropy(nn.Module):
    def forward(self, p):
        total = p.sum(-1)
        assert torch.allclose(total, torch.ones_like(total))
        return -(p * p.log()).sum(-1)


class Drawn(nn.Module):
    def forward(self, mean, cov):
        return torch.distributions.MultivariateNormal(mean, cov).rsample()


class Slopes(nn.Module):
    def forward(self, t, y):
        if not (t[1:] > t[:-1]).all():
            raise ValueError("t must be strictly increasing")
        return y.mean() / (t[1:] - t[:-1])


class Turned(nn.Module):
    def forward(self, quaternion):
        assert quaternion.shape[-1] == 4
        if not torch.allclose(quaternion.norm(dim=-1), torch.ones(())):
            raise ValueError("a quaternion has unit length")
        return quaternion * 2


class Chosen(nn.Module):
    def forward(self, x, w):
        assert ((w == 0) | (w == 1)).all()
        return x * w
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    folder: Path = tmp_path_factory.mktemp("contents")
    yield imported(folder / "demanded_contents_of_tensors.py", MODULES)
    sys.modules.pop("demanded_contents_of_tensors", None)


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("Mixed", ".softmax(-1)"),
        ("Shared", "(0.5, 0.5)"),
        ("Entropy", ".softmax(-1)"),
        ("Drawn", "torch.eye("),
        ("Slopes", ".cumsum(0)"),
        ("Turned", "torch.nn.functional.normalize("),
        ("Chosen", ".round()"),
    ],
)
def test_numbers_have_the_form_that_is_demanded(module: ModuleType, name: str, form: str) -> None:
    found = target.find_call(module, name, target.SearchBudget(60, 60))
    assert form in found.expression
    # made here, it comes back, and it may be kept in the file
    expressions.evaluate(found.expression, vars(module)).run()
    assert written_call(parse(MODULES), found.expression) is not None


@pytest.mark.parametrize("text", ["Net()(x=Net().round())", "Net()(x=torch.load('a').expand(2))"])
def test_methods_of_tensors_are_not_those_of_other_objects(text: str) -> None:
    tree = parse("import torch\nclass Net:\n    def round(self):\n        open('a')\n")
    assert written_call(tree, text) is None
