"""What a protocol or an abstract class describes, where nothing inherits from it."""

from __future__ import annotations

import pytest
from tests.entries.agent_package import expression_found

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

MODULES = """\
from abc import ABC, abstractmethod
from typing import Protocol

import torch
from torch import nn


class Loss(Protocol):
    def __call__(self, input: torch.Tensor, target: torch.Tensor) -> torch.Tensor: ...


class Scaler(Protocol):
    factor: float

    def scale(self, x: torch.Tensor) -> torch.Tensor: ...

    def unscale(self, x: torch.Tensor) -> torch.Tensor: ...


class Window(Protocol):
    def cut(self, x): ...


class Hann:
    def __init__(self, length: int = 4):
        self.length = length

    def cut(self, x):
        return x[..., : self.length]


class Encoder(nn.Module, ABC):
    @property
    @abstractmethod
    def outer(self) -> int: ...

    @abstractmethod
    def forward(self, x): ...


class Distance(ABC):
    @abstractmethod
    def between(self, one, other): ...


class Weighted(nn.Module):
    def __init__(self, loss: Loss):
        super().__init__()
        loss.reduction = "none"
        self.loss, self.layer = loss, nn.Linear(8, 8)

    def forward(self, x, target):
        return self.loss(self.layer(x), target).sum()


class Scaled(nn.Module):
    def __init__(self, scaler: Scaler):
        super().__init__()
        self.scaler, self.layer = scaler, nn.Linear(8, 8)

    def forward(self, x):
        return self.scaler.unscale(self.layer(self.scaler.scale(x))) * self.scaler.factor


class Windowed(nn.Module):
    def __init__(self, window: Window):
        super().__init__()
        self.window, self.layer = window, nn.Linear(4, 8)

    def forward(self, x):
        return self.layer(self.window.cut(x))


class Headed(nn.Module):
    def __init__(self, encoder: Encoder, classes: int):
        super().__init__()
        self.encoder, self.head = encoder, nn.Linear(encoder.outer, classes)

    def forward(self, x):
        return self.head(self.encoder(x))


class Measured(nn.Module):
    def __init__(self, distance: Distance):
        super().__init__()
        self.distance, self.layer = distance, nn.Linear(8, 8)

    def forward(self, x):
        return self.distance.between(self.layer(x), x)
"""


@pytest.mark.parametrize(
    "name, expected",
    [
        ("Weighted", "Weighted(loss=torch.nn.MSELoss())("),
        ("Scaled", "Scaled(scaler=types.SimpleNamespace(scale=lambda "),
        ("Windowed", "Windowed(window=Hann())("),
        ("Headed", 'Headed(encoder=(m := torch.nn.Identity(), setattr(m, "outer", '),
        ("Measured", "Measured(distance=types.SimpleNamespace(between=lambda "),
    ],
)
def test_what_nothing_implements_is_made_up(name, expected, tmp_path):
    assert expression_found(tmp_path / "describing.py", MODULES, name).startswith(expected)
