"""Texts, members and numbers that a constructor demands: by its condition, its docstring, an enumeration, or a name that it looks up."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from tests.entries.agent_package import agent_module, imported

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

target = agent_module("inputs.synthesis.target")
listed_values = agent_module("inputs.synthesis.source.listed_values")

MODULES = '''\
from enum import Enum

import torch
from torch import nn


class Route(Enum):
    LAND = "by land"
    SEA = "by sea"


class Shelf:
    def __init__(self, **kinds):
        self._kinds = kinds

    def build(self, name, width):
        if name not in self._kinds:
            raise KeyError(f"nothing of the kind {name}")
        return self._kinds[name](width, width)


SHELF = Shelf(narrow=nn.Linear)


class Base(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def forward(self, x):
        return self.layer(x)


class Named(Base):
    def __init__(self, width, wobble):
        super().__init__(width)
        self.bend = getattr(nn, wobble)()


class Styled(Base):
    def __init__(self, width, style):
        super().__init__(width)
        self.finish = getattr(self, "_styled_" + style)

    def _styled_soft(self, x):
        return x.softmax(-1)


class Travelled(Base):
    def __init__(self, width, way, back):
        super().__init__(width)
        self.way = Route(way)
        if back is Route.SEA:
            self.back = True
        elif back in (Route.LAND, Route.SEA):
            self.back = False
        else:
            raise ValueError("no way back")


class Shelved(nn.Module):
    def __init__(self, width, top):
        super().__init__()
        self.top = SHELF.build(top, width)

    def forward(self, x):
        return self.top(x)


class Tasted(Base):
    """A layer.

    Args:
        width (int): how wide it is
        flavor (str): what it tastes of, one of
            'sour', 'sweet'
    """

    def __init__(self, width, flavor):
        super().__init__(width)
        self.taste = 1.0 + dict(sour=0.5, sweet=2.0)[flavor]


class Steps(Base):
    def __init__(self, width, steps):
        super().__init__(width)
        for step in steps:
            if step not in ("up", "down"):
                raise ValueError(f"bad step {step}")


class Below(Base):
    def __init__(self, width, shift):
        super().__init__(width)
        if shift >= 0:
            raise ValueError("no")


class Levels(Base):
    def __init__(self, width, levels):
        super().__init__(width)
        if any(level <= 0 or level >= 1 for level in levels):
            raise ValueError("no")


class Different(Base):
    def __init__(self, width, here: float, there: float):
        super().__init__(width)
        if here == there:
            raise ValueError("no")


class Shared(Base):
    def __init__(self, width, shares):
        super().__init__(width)
        assert abs(sum(shares) - 1.0) < 1e-6, "the shares must sum to one"


class Mixed(nn.Module):
    def __init__(self, pull: torch.Tensor):
        super().__init__()
        if pull.ndim != 2 or pull.shape[0] != pull.shape[1]:
            raise ValueError("pull must be a square matrix")
        if not torch.allclose(pull, pull.T):
            raise ValueError("pull must be symmetric")
        if torch.any(torch.diagonal(pull) != 0):
            raise ValueError("pull must have a zero diagonal")
        self.register_buffer("pull", pull)

    def forward(self, share):
        if torch.any(share < 0):
            raise ValueError("a share cannot be negative")
        return share.unsqueeze(-1) * self.pull.sum()
'''


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    yield imported(tmp_path_factory.mktemp("demanded") / "demanded_texts.py", MODULES)
    sys.modules.pop("demanded_texts", None)


@pytest.mark.parametrize(
    ("name", "passed"),
    [
        ("Named", "wobble='ReLU'"),
        ("Styled", "style='soft'"),
        ("Travelled", "way='by land', back=Route.SEA"),
        ("Shelved", "top='narrow'"),
        ("Tasted", "flavor='sour'"),
        ("Steps", "steps=('up', 'up')"),
        ("Below", "shift=-1"),
        ("Levels", "levels=(0.5, 0.5)"),
        ("Different", "here=2.0, there=1.0"),
        ("Shared", "shares=(0.5, 0.5)"),
        ("Mixed", "pull=float32[2, 2] == 0"),
    ],
)
def test_the_constructor_gets_what_it_demands(modules: ModuleType, name: str, passed: str) -> None:
    found = target.find_call(modules, name, target.SearchBudget())
    assert passed in found.expression
    found.evaluate(vars(modules)).run()


def test_texts_in_docstrings_count_where_several_are_listed(tmp_path: Path) -> None:
    def pooled(how: str, where: str, tag: str, unit: str) -> None:
        """Pool.

        :param how: either ``mean`` or ``max``
        :param str where: which side, {'left', 'right'}
        :param tag: must be 'x'
        unit: the unit 'm' of 'km' roads

        Options: 'a', 'b'
        """

    assert listed_values.listed_texts(pooled) == {"how": ("mean", "max"), "where": ("left", "right")}
