"""Objects that only a function or a class method can construct, with arguments: those that the project passes, or that are found."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.agent_package import agent_module
from tests.entries.test_project_calls import package

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

target = agent_module("inputs.synthesis.target")

# what a constructor takes is known to the factories alone
HEAD = """\
import torch
from torch import nn


class Plan(dict):
    pass


class Layer(nn.Module):
    def __init__(self, plan):
        super().__init__()
        assert type(plan) is Plan and plan["made"] == "by its factory"
        self.linear = nn.Linear(plan["width"], plan["width"])

    def forward(self, x):
        return self.linear(x)


def make_layer(width, kind):
    if kind not in ("plain", "wide"):
        raise KeyError(kind)
    return Layer(Plan(made="by its factory", width=width))


def load_layer(path):
    return Layer(torch.load(path))


class Net(nn.Module):
    def __init__(self, plan):
        super().__init__()
        assert type(plan) is Plan and plan["made"] == "by its method"
        self.linear = nn.Linear(plan["width"], 2)

    @classmethod
    def from_options(cls, options):
        assert options["mode"][::-1] == "edoc siht ylno"
        return cls(Plan(made="by its method", width=options["width"]))

    def forward(self, x):
        return self.linear(x)


class Other:
    @classmethod
    def from_options(cls, options):
        return cls()
"""
USE = """\
from {package} import head
from {package}.head import Net as Network, Other

Other.from_options({{"mode": "of another class", "width": 3}})
OPTIONS = dict(mode="only this code", width=6)
net = Network.from_options(OPTIONS)
"""


def test_factories_get_arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "project_of_factories"
    files = {f"{name}/head.py": HEAD, "train.py": USE.format(package=name)}
    module = package(tmp_path, name, files, monkeypatch)
    layer = target.find_call(module, "Layer", target.SearchBudget())
    assert layer.making == "make_layer(width=32, kind='plain')"
    assert layer.inputs.endswith("x: float32[2, 16, 32]")
    net = target.find_call(module, "Net", target.SearchBudget())
    assert net.making == "Net.from_options(options=dict(mode='only this code', width=6))"
