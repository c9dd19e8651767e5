"""Methods that an error names, or that set what the failing line reads, are called first; batches are what their types and keys say."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest
from tests.entries.agent_package import agent_module

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

target = agent_module("inputs.synthesis.target")

MODULES = """\
from typing import NamedTuple

import torch
from torch import nn


class Batch(NamedTuple):
    tokens: torch.Tensor
    mask: torch.Tensor


class Told(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self._ready = nn.Linear(8, 8), False

    def warm_up(self, statistics):
        self.center = statistics.mean()
        object.__setattr__(self, "_rea" + "dy", True)

    def forward(self, x):
        if not self.is_ready():
            raise RuntimeError("The model is not ready: call warm_up() first.")
        return self.layer(x - self.center)

    def is_ready(self):
        return self._ready


class Stateful(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.states = nn.Linear(8, 8), {}

    def begin(self, batch_size):
        self.states["h"] = torch.zeros(batch_size, 8)

    def forward(self, x):
        self.states["h"] = self.states["h"] + self.layer(x)
        return self.states["h"]


class OfTuple(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(20, 8)

    def forward(self, batch: Batch):
        return self.table(batch.tokens) * batch.mask.unsqueeze(-1)


class OfDictionaries(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Conv2d(3, 8, 3)

    def forward(self, samples):
        return torch.stack([self.layer(sample["image"]).mean((1, 2)) for sample in samples])
"""


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    file = tmp_path_factory.mktemp("first") / "called_first.py"
    Path(file).write_text(MODULES)
    spec = importlib.util.spec_from_file_location("called_first", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["called_first"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Told", "(m := Told(), m.warm_up(statistics=float32["),
        ("Stateful", "(m := Stateful(), m.begin(batch_size=2))[0](x=float32["),
        ("OfTuple", "OfTuple()(batch=Batch(tokens=int64[2, 16] < 8, mask=bool[2, 16]))"),
        ("OfDictionaries", '(samples=[{"image": float32[3, 32, 32]}, {"image": float32[3, 32, 32]}])'),
    ],
)
def test_what_comes_before_the_call_and_what_it_gets(modules: ModuleType, name: str, shown: str) -> None:
    assert shown in target.find_call(modules, name, target.SearchBudget()).expression
