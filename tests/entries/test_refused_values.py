"""Arguments that the program refuses: it names those that it accepts, in its source or in its error."""

from __future__ import annotations

from pathlib import Path

import pytest

from compile_lens.entries.targets import find_targets
from compile_lens.pipeline.entry_choice import choose
from compile_lens.syntax.tree import parse
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")

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


class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(8, 8)

    def forward(self, x, state):
        return self.cell(x, state)


class Sized(nn.Module):
    def __init__(self, blocks=None):
        super().__init__()
        assert isinstance(blocks, Blocks), "blocks are made by from_name"
        self.layer = nn.Linear(blocks.width, 2)

    @classmethod
    def from_name(cls, name):
        sizes = {"tiny": 8, "base": 64}
        return cls(Blocks(sizes[name]))

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
"""


def test_what_the_program_accepts_is_passed(tmp_path: Path, warm_host: WarmHost) -> None:
    (tmp_path / "net.py").write_text(MODULES)
    file = str(tmp_path / "net.py")
    outcome = warm_host.run_choice(file, choose(file, MODULES, None))
    calls = {call.target: call.text for call in outcome.calls}
    coverage = outcome.coverage
    assert coverage is not None
    assert not [(unit.name, unit.reason) for unit in coverage.units if unit.reason and unit.is_module], calls
    assert calls["Pooled"].startswith("Pooled(kind='first')(")
    assert calls["Scaled"].startswith("Scaled(rate='slow')(")
    assert "of=torch.nn." in calls["Normed"]
    assert "state=(float32[2, 8], float32[2, 8])" in calls["Cell"]
    assert "y=float32[" in calls["Similarity"]
    assert "time=float32[2], classes=int64[2] < 5" in calls["Timed"] and "x=float32[2, 3, " in calls["Timed"]
    assert "bias=" in calls["Asking"]
    assert calls["Sized"].startswith("Sized.from_name(name='tiny')(")
    assert calls["Encoded"].startswith("Encoded(encoder=SmallEncoder())(")
    assert not [finding for finding in outcome.findings if finding.kind.value == "run-error"]


def test_a_class_whose_forward_is_left_to_subclasses_is_no_target() -> None:
    names = {target.name for target in find_targets(parse(MODULES))}
    assert "Encoder" not in names and {"SmallEncoder", "Encoded"} <= names
    only = find_targets(parse("class Base(nn.Module):\n    def forward(self, x):\n        raise NotImplementedError\n"))
    assert only == ()
