"""A tensor is Boolean where the program chooses by it, and one of integers where it looks something up with it: no error may tell."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from tests.entries.agent_package import agent_module, imported

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

target = agent_module("inputs.synthesis.target")
used_kinds = agent_module("inputs.synthesis.source.used_kinds")

MODULES = """\
import torch
import torch.nn.functional as F
from torch import nn


def spread(values, places):
    return torch.zeros(2, 20, 64).scatter_(1, places, values)


class Chooser(nn.Module):
    def forward(self, x, present):
        return x.masked_fill(~present[..., None], 0.0)


class Choosers(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Chooser(), Chooser()])

    def forward(self, x, present):
        for layer in self.layers:
            x = layer(x, present)
        return x


class Schedule(nn.Module):
    def __init__(self):
        super().__init__()
        self.alphas = torch.linspace(0, 1, 50)

    def forward(self, x, level):
        return x * self.alphas[level.flatten()[0]]


class OfBatch(nn.Module):
    def forward(self, batch):
        return batch.signal.masked_fill(~batch.missing, 0.0) + F.one_hot(batch.kind).sum()


class Complement(nn.Module):
    def forward(self, x, mask):
        return x + (1 - mask).sum()


class Embedded(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Linear(8, 4)

    def forward(self, x, present):
        present = present.bool()
        return self.embedding(x), ~present
"""


@pytest.mark.parametrize(
    ("name", "inputs"),
    [
        ("spread", {"places": "int64"}),
        # by way of a part that gets it, and of a loop over such parts
        ("Choosers", {"x": "float32", "present": "bool"}),
        ("Schedule", {"x": "float32", "level": "int64"}),
        # of what is read of an object
        ("OfBatch", {"signal": "float32", "missing": "bool", "kind": "int64"}),
        ("Complement", {"mask": "float32"}),
        # a layer that is called so is no table, and what is converted first may be anything
        ("Embedded", {"x": "float32", "present": "float32"}),
    ],
)
def test_the_kinds_of_inputs_follow_their_uses(tmp_path: Path, name: str, inputs: dict[str, str]) -> None:
    module = imported(tmp_path / f"kinds_of_{name.lower()}.py", MODULES)
    found = target.find_call(module, name, target.SearchBudget())
    kinds = {key: found.expression.partition(f"{key}=")[2].partition("[")[0] for key in inputs}
    assert kinds == inputs, found.expression


@pytest.mark.parametrize(
    ("body", "kinds"),
    [
        ("y = x[:, 1:].unsqueeze(-1)\nz = z.gather(1, y)", {"x": "int64"}),
        ("torch.where(x, z, 0)", {"x": "bool"}),
        ("torch.gather(z, -1, index=x)", {"x": "int64"}),
        ("a = (z > 0) & x", {"x": "bool"}),
        ("x, z = z, x\ntorch.where(x, 1, 0)", {"z": "bool"}),
        ("z.where(x == 0, 1)", {}),
        ("a = z[x]", {}),
        ("gather(z, 1, x)", {}),
        ("self.gather(z, 1, x)", {}),
        ("x = x.long()\nz.gather(1, x)", {}),
        ("z.masked_fill(x['pad'], 0)", {"x.pad": "bool"}),
    ],
)
def test_uses_tell_kinds(body: str, kinds: dict[str, str]) -> None:
    assert used_kinds.used_kinds(ast.parse(body).body, ("x", "z", "self")) == kinds
