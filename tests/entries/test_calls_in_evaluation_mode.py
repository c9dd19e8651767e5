"""A model that asks for its mode, and cannot be called in training here, is called as it is evaluated."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.agent_package import expression_found

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

PROGRAM = """\
import torch
from torch import nn


class Parallel(nn.Module):
    def __init__(self, base: nn.Module):
        super().__init__()
        self.base = base

    def forward(self, x):
        if self.training:
            raise RuntimeError("no accelerator is available")
        return self.base(x)


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        y = self.linear(x)
        if self.training:
            raise RuntimeError("no accelerator is available")
        return y
"""


def test_it_wraps_a_model_that_computes(tmp_path: Path) -> None:
    found = expression_found(tmp_path / "parallel.py", PROGRAM, "Parallel")
    assert ".eval()(x=" in found
    assert "Identity" not in found


def test_its_inputs_are_found_then(tmp_path: Path) -> None:
    found = expression_found(tmp_path / "scaled.py", PROGRAM, "Scaled")
    assert found == "Scaled().eval()(x=float32[2, 16, 8])"
