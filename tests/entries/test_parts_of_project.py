"""What is read of a parameter says what it is: a class of the project, or of a library that the file uses, which has it."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest
from tests.entries.agent_package import agent_module

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

target = agent_module("inputs.synthesis.target")
classes_by_members = agent_module("inputs.synthesis.project.classes_by_members")

WRAPPERS = """\
import torch
import partslibrary
from torch import nn


class Sampled(nn.Module):
    def __init__(self, flow):
        super().__init__()
        self.flow = flow

    def forward(self, x):
        scale = 2 if self.flow.uses_noise else 1
        return self.flow(x + self.flow.noise_like(x) * scale)


class Policy(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def forward(self, x):
        return self.layer(x)


class Population(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def members(self):
        return list(self.model.layer.parameters())

    def forward(self, x):
        return self.model(x)


class Trained(nn.Module):
    def __init__(self, policy: Policy | nn.Module):
        super().__init__()
        self.policy = policy

    def forward(self, x):
        weight, bias = self.policy.members()
        return self.policy(x) @ weight + bias


class Adapted(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        self.head = nn.Linear(model.stem.out_features, 4)

    def forward(self, x):
        return self.head(self.model.stem(self.model.project(x)))
"""
FLOWS = """\
from torch import nn


class Noise(nn.Module):
    def noise_like(self, x):
        raise NotImplementedError


class Flow(nn.Module):
    uses_noise = True

    def __init__(self, dim, depth=2):
        super().__init__()
        self.layers = nn.Sequential(*[nn.Linear(dim, dim) for _ in range(depth)])

    def noise_like(self, x):
        return x * 0.5

    def forward(self, x):
        return self.layers(x)
"""
LIBRARY = """\
from torch import nn


class Options:
    def __init__(self, width: int = 12):
        self.width = width


class Backbone(nn.Module):
    def __init__(self, options: Options):
        super().__init__()
        self.stem = nn.Linear(options.width, 2 * options.width)
        self.width = options.width

    def project(self, x):
        return x[..., : self.width]
"""


@pytest.fixture
def wrappers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    package = tmp_path / "partsproject"
    package.mkdir()
    for name, text in (("__init__", ""), ("wrappers", WRAPPERS), ("flows", FLOWS)):
        (package / f"{name}.py").write_text(text, encoding="utf-8")
    (tmp_path / "partslibrary.py").write_text(LIBRARY, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in [each for each in sys.modules if each.partition(".")[0] in ("partsproject", "partslibrary")]:
        monkeypatch.delitem(sys.modules, name)
    return importlib.import_module("partsproject.wrappers")


def _found(module: ModuleType, name: str) -> str:
    return str(target.find_call(module, name, target.SearchBudget()).expression)


def test_members_of_a_variable_and_of_what_is_kept_under_its_name(wrappers: ModuleType) -> None:
    """What every module has says nothing."""
    assert classes_by_members.members_read(wrappers, wrappers.Sampled, "flow") == ("noise_like", "uses_noise")
    assert classes_by_members.members_read(wrappers, wrappers.Adapted, "model") == ("project", "stem")


def test_a_class_of_a_file_that_nothing_imports(wrappers: ModuleType) -> None:
    """The one that has most of what is read comes first."""
    assert _found(wrappers, "Sampled").startswith("Sampled(flow=partsproject.flows.Flow(dim=64")


def test_one_that_wraps_what_its_name_says(wrappers: ModuleType) -> None:
    """An object of another class lacked the method; the class that has it takes that object."""
    assert _found(wrappers, "Trained").startswith("Trained(policy=Population(model=Policy(width=")


def test_a_class_of_a_library_that_the_file_imports(wrappers: ModuleType) -> None:
    """It has all that is read of the parameter."""
    assert "model=partslibrary.Backbone(" in _found(wrappers, "Adapted")


def test_an_object_inside_of_another_does_not_take_its_place() -> None:
    """`(m := A(), setattr(m, "inner", (m := B(), …)[0]), setattr(m, "width", 2))` set the width of the inner one."""
    terms = agent_module("inputs.synthesis.terms.arguments")
    inner = terms.Fields((("size", terms.Expression("3")),), base="torch.nn.Identity()")
    outer = terms.Fields((("inner", inner), ("width", terms.Expression("2"))), base="torch.nn.ReLU()")
    made = eval(outer.render(str), {"torch": importlib.import_module("torch")})
    assert (type(made).__name__, made.width, made.inner.size) == ("ReLU", 2, 3)
    assert not hasattr(made.inner, "width")
