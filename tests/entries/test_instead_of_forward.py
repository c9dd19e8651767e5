"""Modules and classes that users call by another method than ``forward``: decorated ones, those beside a ``forward`` that only raises, and
those of classes whose base in another file may be a module."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.agent_package import agent_module, imported

from compile_lens.entries.targets import find_targets
from compile_lens.syntax.tree import parse

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

target = agent_module("inputs.synthesis.target")
concrete_classes = agent_module("inputs.synthesis.project.concrete_classes")

MODULES = """\
import torch
from torch import nn


class Sampler(nn.Module):
    def __init__(self, vocab=50, dim=8):
        super().__init__()
        self.table, self.head = nn.Embedding(vocab, dim), nn.Linear(dim, vocab)

    @torch.no_grad()
    def generate(self, ids, count=2):
        for _ in range(count):
            ids = torch.cat([ids, self.head(self.table(ids))[:, -1].argmax(-1, keepdim=True)], 1)
        return ids


class Codec(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.layer = nn.Linear(dim, dim)

    def forward(self, *args, **kwargs):
        raise NotImplementedError("call encode() or decode()")

    def encode(self, x):
        return torch.tanh(self.layer(x))

    def decode(self, z):
        return torch.relu(z)


class Part(nn.Module):
    def forward(self, x):
        raise NotImplementedError

    def loss(self, x, y):
        return torch.mean(self.forward(x) - y)

    def target(self, y):
        raise NotImplementedError


class Base(nn.Module):
    def forward(self, x):
        raise NotImplementedError

    def loss(self, x, y):
        return torch.mean(self.forward(x) - y)


class Heir(Base):
    def forward(self, x):
        return x + 1


class Density(nn.Module):
    def log_prob(self, x):
        return torch.sum(x, -1)

    def log_images(self, x):
        return torch.sum(x, -1)

    def sample(self, x):
        return torch.randn_like(x)
"""
HEIRS = """\
import torch
from elsewhere import BasePredictor, BaseModel


class Mine(BasePredictor):
    def transform(self, x):
        return torch.relu(x)

    def save_all(self, path):
        torch.save(self, path)


class Checked(BaseModel):
    def transform(self, x):
        return torch.relu(x)
"""


def names(source: str) -> list[str]:
    return [each.name for each in find_targets(parse(source))]


@pytest.mark.parametrize(
    ("name", "expression"),
    [
        ("Sampler", "Sampler().generate(ids=int64[2, 16] < 50)"),
        ("Codec", "Codec().encode(x=float32[2, 16, 8])"),
        ("Base", "Heir()(x=float32[2, 16, 16])"),
    ],
)
def test_the_method_that_is_called(tmp_path: Path, name: str, expression: str) -> None:
    assert target.find_call(imported(tmp_path / "ways_in.py", MODULES), name, target.SearchBudget()).expression == (
        expression
    )


def test_a_base_that_leaves_more_than_forward_to_others_is_not_called_by_another_method(tmp_path: Path) -> None:
    module = imported(tmp_path / "ways_in.py", MODULES)
    assert concrete_classes.method_beside(module.Codec) == "encode"
    assert not concrete_classes.method_beside(module.Part)
    with pytest.raises(target.NotFound, match="leaves its work to subclasses"):
        target.find_call(module, "Part", target.SearchBudget())


def test_each_of_several_ways_is_a_target() -> None:
    assert names(MODULES)[-4:] == ["Density.log_prob", "Density.sample", "Codec.encode", "Codec.decode"]


def test_methods_of_what_may_be_a_module_come_last_and_only_if_it_is_none() -> None:
    assert [(each.name, each.only_module, each.only_plain) for each in find_targets(parse(HEIRS))] == [
        ("Mine", True, False),
        ("Checked", True, False),
        ("Mine.transform", False, True),
    ]
