"""Objects of a program's classes are built of their own fields, also where the annotations of these are kept as text."""

from __future__ import annotations

from types import ModuleType

import pytest
from tests.entries.agent_package import agent_module, imported

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

target = agent_module("inputs.synthesis.target")
parameters = agent_module("inputs.synthesis.source.constructor_parameters")

BASES = """\
from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Choice:
    name: str
    doubled: bool


@dataclass
class Base:
    first: Choice
"""

MODULES = """\
from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import nn

import bases_of_fields as bases


@dataclass
class Width:
    width: int


@dataclass
class Decision:
    doubled: bool


@dataclass
class Plan(bases.Base):
    choices: tuple[Decision, ...]
    widths: dict[str, Width]


class Pair(NamedTuple):
    left: Width
    right: Width


class Checked:
    # as pydantic makes them: the constructor takes any names, and the signature has the fields
    __annotations__ = {"left": Width, "depth": int}
    __signature__ = inspect.Signature(
        [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=hint) for name, hint in __annotations__.items()]
    )

    def __init__(self, **data):
        for name, hint in self.__annotations__.items():
            if not isinstance(data[name], hint):
                raise TypeError(name)
            setattr(self, name, data[name])


class Planned(nn.Module):
    def __init__(self, plan: Plan):
        super().__init__()
        self.doubled = [each.doubled for each in plan.choices] + [plan.first.doubled]
        self.layers = nn.ModuleList([nn.Linear(each.width, 3) for each in plan.widths.values()])

    def forward(self, x):
        return self.layers[0](x)


class Paired(nn.Module):
    def __init__(self, pair: Pair):
        super().__init__()
        self.layer = nn.Linear(pair.left.width, pair.right.width)

    def forward(self, x):
        return self.layer(x)


class OfChecked(nn.Module):
    def __init__(self, checked: Checked):
        super().__init__()
        self.layer = nn.Linear(checked.left.width, checked.depth)

    def forward(self, x):
        return self.layer(x)
"""


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    folder = tmp_path_factory.mktemp("fields")
    imported(folder / "bases_of_fields.py", BASES)
    return imported(folder / "modules_of_fields.py", MODULES)


def constructor_found(modules: ModuleType, name: str) -> str:
    found = target.find_call(modules, name, target.SearchBudget())
    return str(found.expression).partition(")(x=")[0]


def test_the_fields_of_a_data_class_are_of_the_classes_that_its_text_names(modules: ModuleType) -> None:
    found = constructor_found(modules, "Planned")
    assert "choices=(Decision(doubled=False),)" in found
    assert 'widths={"first": Width(width=' in found


def test_a_field_of_a_base_is_of_the_module_of_that_base(modules: ModuleType) -> None:
    found = constructor_found(modules, "Planned")
    assert "first=bases_of_fields.Choice(name='mean', doubled=False)" in found


def test_fields_of_named_tuples_are_objects(modules: ModuleType) -> None:
    assert constructor_found(modules, "Paired").startswith("Paired(pair=Pair(left=Width(width=")


def test_a_class_that_takes_any_names_takes_those_of_its_signature(modules: ModuleType) -> None:
    assert [each.name for each in parameters.constructor_parameters(modules.Checked)] == ["left", "depth"]
    assert constructor_found(modules, "OfChecked").startswith("OfChecked(checked=Checked(left=Width(width=")
