"""Parameters that take no names: of a constructor, of a part that it takes, of a base class."""

from __future__ import annotations

import pytest
from tests.entries.agent_package import expression_found

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

MODULES = """\
import torch
from torch import nn


class Scaled(nn.Module):
    def __init__(self, width, /, *, classes=4):
        super().__init__()
        self.layer = nn.Linear(width, classes)

    def forward(self, x, /, scale=2.0):
        return self.layer(x) * scale


class Deep(nn.Module):
    def __init__(self, width, depth=None, /, factor=None):
        super().__init__()
        self.layers = nn.Sequential(*(nn.Linear(width, width) for _ in range(depth)))
        self.last = nn.Linear(width, width * factor)

    def forward(self, x):
        return self.last(self.layers(x))


class Holder(nn.Module):
    def __init__(self, net: Scaled, /):
        super().__init__()
        self.net = net

    def forward(self, x):
        return self.net(x) + 1


class Inherits(Scaled):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
"""


@pytest.mark.parametrize(
    "name, expected",
    [
        ("Scaled", "Scaled(32)(float32["),
        ("Deep", "Deep(32, 2, factor="),
        ("Holder", "Holder(Scaled(32))(x="),
        ("Inherits", "Inherits(32)(float32["),
    ],
)
def test_what_takes_no_name_is_passed_by_position(name, expected, tmp_path):
    assert expression_found(tmp_path / "of_positions.py", MODULES, name).startswith(expected)
