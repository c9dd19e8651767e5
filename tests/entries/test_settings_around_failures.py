"""A setting that leads to code which cannot work is another one, and a list takes the place of a default that fails by itself."""

from __future__ import annotations

import re
import typing
from pathlib import Path
from types import ModuleType

import pytest
from tests.entries.agent_package import agent_module, imported

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

target = agent_module("inputs.synthesis.target")

MODULES = """\
import torch
from torch import nn


def quaternions(shape):
    return chi.rvs(4, size=shape)


class Worded(nn.Module):
    def __init__(self, width, weight_init="quaternion"):
        super().__init__()
        made = {"quaternion": quaternions, "random": torch.rand}[weight_init]
        self.weight = nn.Parameter(made((width, width)))

    def forward(self, x):
        return x @ self.weight


class Fused(nn.Module):
    def __init__(self, width, use_fused=True):
        super().__init__()
        self.layer = fused_linear(width) if use_fused else nn.Linear(width, width)

    def forward(self, x):
        return self.layer(x)


class Backends(nn.Module):
    def __init__(self, width, backend="extension"):
        super().__init__()
        if backend == "extension":
            import an_extension_that_nobody_has as operators
        elif backend == "torch":
            operators = torch
        self.layer, self.operators = nn.Linear(width, width), operators

    def forward(self, x):
        return self.operators.relu(self.layer(x))


class Late(nn.Module):
    def __init__(self, width, mode="fast"):
        super().__init__()
        self.mode, self.layer = mode, nn.Linear(width, width)

    def forward(self, x):
        if self.mode == "fast":
            return fast_operator(self.layer(x))
        if self.mode == "slow":
            return self.layer(x).tanh()
        raise ValueError(self.mode)


class Hidden(nn.Module):
    def __init__(self, features, classes, hidden_sizes=None):
        super().__init__()
        hidden_sizes = hidden_sizes or []
        sizes = [features, *hidden_sizes]
        layers = [nn.Linear(one, other) for one, other in zip(sizes, hidden_sizes)]
        self.layers = nn.Sequential(*layers, nn.Linear(hidden_sizes[-1], classes))

    def forward(self, x):
        return self.layers(x)


class Always(nn.Module):
    def __init__(self, width, mode="fast"):
        super().__init__()
        self.layer = nothing_defines_this(width)
        self.is_fast = mode == "fast"

    def forward(self, x):
        return self.layer(x)
"""


@pytest.mark.parametrize(
    ("name", "passed"),
    [
        ("Worded", "weight_init='random'"),
        ("Fused", "use_fused=False"),
        ("Backends", "backend='torch'"),
        ("Late", "mode='slow'"),
        ("Hidden", r"hidden_sizes=\[64\]"),
    ],
)
def test_another_setting_leads_around_what_fails(name: str, passed: str, tmp_path: Path) -> None:
    module = imported(tmp_path / "settings_around.py", MODULES)
    found = target.find_call(module, name, target.SearchBudget()).expression
    assert re.search(passed, found), found


def test_what_fails_with_every_setting_is_told_as_it_was(tmp_path: Path) -> None:
    module = imported(tmp_path / "settings_around_always.py", MODULES)
    with pytest.raises(target.NotFound, match="NameError: name 'nothing_defines_this' is not defined") as failed:
        target.find_call(module, "Always", target.SearchBudget())
    assert "mode" not in failed.value.draft


@pytest.mark.parametrize("error", [IndexError("list index out of range"), NameError("name 'law' is not defined")])
def test_defaults_that_cannot_be_compared_are_no_empty_lists(error: Exception) -> None:
    class Uncomparable:
        def __eq__(self, _: object) -> bool:
            raise ImportError("it is not installed")

        __hash__ = None  # type: ignore[assignment]

    class Net:
        def __init__(self, table: object = Uncomparable(), mode: typing.Literal["a", "b"] = Uncomparable()) -> None:  # type: ignore[assignment]
            self.mode = mode

    around = agent_module("inputs.synthesis.making.settings_around").settings_around
    found = list(around(ModuleType("file"), Net, None, error))
    assert found == ([{"mode": "'a'"}, {"mode": "'b'"}] if isinstance(error, NameError) else [])
