"""A dictionary whose values are looked through has several in each of them, although the line that fails names no argument."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.agent_package import expression_found

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

MODULES = """\
import torch
from torch import nn


class Labeled(nn.Module):
    def __init__(self, width, parts):
        super().__init__()
        self.most = 0
        shifts = torch.zeros(len(parts))
        for number, part in enumerate(parts.values()):
            self.most = max(self.most, len(part))
            shifts[number] = min(part)
        self.register_buffer("shifts", shifts)
        self.linear = nn.Linear(width, self.most)

    def forward(self, x):
        return self.linear(x)


class Grouped(nn.Module):
    def __init__(self, groups):
        super().__init__()
        self.layers = nn.ModuleDict()
        for name, sizes in groups.items():
            into, out = sizes
            self.layers[name] = nn.Linear(into, out)

    def forward(self, x):
        return [layer(x) for layer in self.layers.values()]
"""


@pytest.mark.parametrize(
    ("name", "expression"),
    [
        ("Labeled", 'Labeled(width=32, parts={"first": [64, 64], "second": [64, 64]})(x=float32[2, 16, 32])'),
        ("Grouped", 'Grouped(groups={"first": [64, 64], "second": [64, 64]})(x=float32[2, 16, 64])'),
    ],
)
def test_each_value_is_several(tmp_path: Path, name: str, expression: str) -> None:
    assert expression_found(tmp_path / f"dictionaries_{name.lower()}.py", MODULES, name) == expression
