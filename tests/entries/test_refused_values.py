"""Arguments that the program refuses: it names those that it accepts, in its source or in its error."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest
from tests.entries.agent_package import agent_module

from compile_lens.entries.targets import find_targets
from compile_lens.syntax.tree import parse

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

target = agent_module("inputs.synthesis.target")

MODULES = """\
import torch
from abc import abstractmethod
from torch import nn

RATES = {"slow": 1.0, "fast": 2.0}


class Pooled(nn.Module):
    def __init__(self, kind):
        super().__init__()
        if kind == "first":
            self.index = 0
        elif kind == "last":
            self.index = -1
        else:
            raise ValueError("unknown")

    def forward(self, x):
        return x[:, self.index]


class Scaled(nn.Module):
    def __init__(self, rate: str):
        super().__init__()
        self.rate = rate_of(rate)

    def forward(self, x):
        return x * self.rate


def rate_of(name):
    if name not in RATES:
        raise ValueError(f"rate must be one of slow, fast; got {name}")
    return RATES[name]


class Normed(nn.Module):
    def __init__(self, dim, of):
        super().__init__()
        self.of = of(dim)

    def forward(self, x):
        return self.of(x)


class Stem(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(*(nn.Conv2d(3, 3, 3, stride=2) for _ in range(5)))

    def forward(self, x):
        return self.layers(x)


class Similarity(nn.Module):
    def forward(self, x, y):
        # x: (N, 3, H, W)
        # y: (N, 3, H, W)
        return nn.functional.conv2d(x, torch.ones(1, 3, 3, 3)) - nn.functional.conv2d(y, torch.ones(1, 3, 3, 3))


class Waves(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.register_buffer("rates", torch.ones(dim))

    def forward(self, t):
        return torch.sin(t[:, None] * self.rates)


class Timed(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Sequential(Waves(8), nn.Linear(8, 6))
        self.classes = nn.Embedding(5, 6)
        self.layer = nn.Conv2d(3, 6, 1)

    def forward(self, x, time, classes):
        return self.features(x) + (self.embed(time) + self.classes(classes))[:, :, None, None]

    def features(self, images):
        return self.layer(images)


class Asking(nn.Module):
    def forward(self, x, bias=None):
        if bias is None:
            raise ValueError("this layer requires bias")
        return x + bias


class Nested(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.layer = nn.Linear(cfg.model.width, cfg.model.head["classes"])
        self.rate = cfg.train["dropout"]

    def forward(self, x):
        return self.layer(x) * self.rate


class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(8, 8)

    def forward(self, x, state):
        return self.cell(x, state)


class Sized(nn.Module):
    def __init__(self, blocks=None):
        super().__init__()
        assert getattr(blocks, "is_checked", False), "blocks are made by from_name"
        self.layer = nn.Linear(blocks.width, 2)

    @classmethod
    def from_name(cls, name):
        sizes = {"tiny": 8, "base": 64}
        blocks = Blocks(sizes[name])
        blocks.is_checked = True
        return cls(blocks)

    def forward(self, x):
        return self.layer(x)


class Blocks:
    def __init__(self, width):
        self.width = width


class Encoder(nn.Module):
    @abstractmethod
    def forward(self, x): ...


class SmallEncoder(Encoder):
    def forward(self, x):
        return x + 1


class Encoded(nn.Module):
    def __init__(self, encoder: Encoder):
        super().__init__()
        self.encoder = encoder

    def forward(self, x):
        return self.encoder(x)


class Likelihood(nn.Module):
    def forward(self, y_pred, y_true):
        return nn.functional.binary_cross_entropy(y_pred, y_true)
"""


def test_what_the_program_accepts_is_passed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "refusing.py").write_text(MODULES)
    spec = importlib.util.spec_from_file_location("refusing", tmp_path / "refusing.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "refusing", module)
    spec.loader.exec_module(module)

    def call_of(name: str) -> str:
        return str(target.find_call(module, name, target.SearchBudget(trials=60, seconds=60)).expression)

    assert call_of("Pooled").startswith("Pooled(kind='first')(")
    assert call_of("Scaled").startswith("Scaled(rate='slow')(")
    assert "of=torch.nn." in call_of("Normed")
    assert "[2, 3, 64, 64]" in call_of("Stem")
    assert "state=(float32[2, 8], float32[2, 8])" in call_of("Cell")
    assert "y=float32[" in call_of("Similarity")
    timed = call_of("Timed")
    assert "time=float32[2], classes=int64[2] < 5" in timed and "x=float32[2, 3, " in timed
    assert "bias=" in call_of("Asking")
    assert 'head={"classes": 10}' in call_of("Nested")
    assert call_of("Sized").startswith("Sized.from_name(name='tiny')(")
    assert call_of("Likelihood").count(" < 1") == 2
    assert call_of("Encoded").startswith("Encoded(encoder=SmallEncoder())(")


def test_a_class_whose_forward_is_left_to_subclasses_is_a_target_too() -> None:
    names = {target.name for target in find_targets(parse(MODULES))}
    assert {"Encoder", "SmallEncoder", "Encoded"} <= names
    only = find_targets(parse("class Base(nn.Module):\n    def forward(self, x):\n        raise NotImplementedError\n"))
    assert [target.name for target in only] == ["Base"]
