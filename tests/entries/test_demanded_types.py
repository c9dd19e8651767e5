"""What a program demands of an argument's type: it is read from the condition that it raised for."""

from __future__ import annotations

import pytest
from tests.entries.agent_package import expression_found

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

MODULES = """\
from argparse import Namespace

import torch
from torch import nn


class Tree(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.layer = nn.Linear(width, 2)

    def forward(self, x):
        return self.layer(x)


class Shrub(Tree):
    pass


class OfPrimitives(nn.Module):
    def __init__(self, hparams):
        super().__init__()
        if isinstance(hparams, Namespace):
            hparams = vars(hparams)
        if isinstance(hparams, dict):
            hparams = dict(hparams)
        elif isinstance(hparams, (bool, int, float, str)):
            raise ValueError("primitives are not allowed")
        self.layer = nn.Linear(hparams["width"], 3)

    def forward(self, x):
        return self.layer(x)


class OfList(nn.Module):
    def __init__(self, sides):
        super().__init__()
        if type(sides) is not list:
            raise TypeError("wrong type")
        self.layer = nn.Linear(sides[0], sides[1])

    def forward(self, x):
        return self.layer(x)


class OfEach(nn.Module):
    def __init__(self, widths, rate, title, function):
        super().__init__()
        assert isinstance(widths, list) and all(isinstance(each, int) for each in widths)
        assert isinstance(rate, float) and 0 < rate < 1
        assert isinstance(title, str)
        assert callable(function)
        self.layer, self.rate, self.function = nn.Linear(widths[0], widths[-1]), rate, function

    def forward(self, x):
        return self.function(self.layer(x)) * self.rate


class Forest(nn.Module):
    def __init__(self, members: list[nn.Module]):
        super().__init__()
        for member in members:
            assert isinstance(member, Tree) or isinstance(member, Shrub)
        self.members = nn.ModuleList(members)

    def forward(self, x):
        return sum(member(x) for member in self.members)


class Grove(nn.Module):
    def __init__(self, *members):
        super().__init__()
        assert len(members) > 0 and all([isinstance(each, Tree) for each in members])
        self.members = nn.ModuleList(members)

    def forward(self, x):
        return self.members[0](x)


def layer_for(kind, width):
    match kind:
        case Tree():
            return nn.Linear(width, width)
        case _:
            raise ValueError("unknown")


class Matched(nn.Module):
    def __init__(self, sort, width):
        super().__init__()
        self.layer = layer_for(sort, width)

    def forward(self, x):
        return self.layer(x)


class AskedLater(nn.Module):
    def __init__(self, width, process):
        super().__init__()
        self.layer, self.process = nn.Linear(width, width), process

    def forward(self, x):
        if isinstance(self.process, Shrub):
            return self.layer(x) * 2
        elif isinstance(self.process, Tree):
            return self.layer(x) * 3
        else:
            raise TypeError(f"{type(self.process)} is not supported")


class EitherOr(nn.Module):
    def __init__(self, width, *, numbers=0, choices=()):
        super().__init__()
        assert numbers > 0 or len(choices) > 0
        self.layer = nn.Linear(width, numbers + sum(choices))

    def forward(self, x):
        return self.layer(x)


class OneOfTwo(nn.Module):
    def __init__(self, width, outer=None, factor=None):
        super().__init__()
        assert outer is not None or factor is not None
        self.layer = nn.Linear(width, outer or width * factor)

    def forward(self, x):
        return self.layer(x)


class OfAnyClass(nn.Module):
    def __init__(self, norm, width=8):
        super().__init__()
        assert issubclass(norm, nn.Module)
        self.layer = norm(width)

    def forward(self, x):
        return self.layer(x)
"""


@pytest.mark.parametrize(
    "name, expected",
    [
        ("OfPrimitives", 'OfPrimitives(hparams={"width": 32})('),
        ("OfList", "OfList(sides=[64, 64])("),
        ("OfEach", "OfEach(widths=[64, 64], rate=0.5, title='mean', function=torch.nn.Identity())("),
        ("Forest", "Forest(members=[Tree(), Tree()])("),
        ("Grove", "Grove(Tree())("),
        ("Matched", "Matched(sort=Tree(), width=32)("),
        ("AskedLater", "AskedLater(width=32, process=Shrub())("),
        ("EitherOr", "EitherOr(width=32, numbers="),
        ("OneOfTwo", "OneOfTwo(width=32, outer="),
        ("OfAnyClass", "OfAnyClass(norm=torch.nn.LayerNorm)("),
    ],
)
def test_an_argument_is_what_the_failed_condition_demands(name, expected, tmp_path):
    assert expression_found(tmp_path / "demanding.py", MODULES, name).startswith(expected)
