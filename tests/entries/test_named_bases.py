"""Bases that are not installed and whose constructors a class calls by name, and errors about what stands for a missing class."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.agent_package import agent_module, imported

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

PROGRAM = """\
import torch
from torch import nn


class Policy(Base, nn.Module):
    def __init__(self, space, width):
        nn.Module.__init__(self)
        self.before = nn.Linear(8, 8)
        Base.__init__(self, space, width)
        self.after = nn.Linear(8, self.width)

    def forward(self, x):
        return self.after(self.before(x))


class Plain(Base):
    def __init__(self, width):
        Base.__init__(self, width)
        self.layer = nn.Linear(width, width)

    def forward(self, x):
        return self.layer(x)


class Parts(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 8), Layer(8))

    def forward(self, x):
        return self.layers(x)


class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)
        self.layer = Layer(8)

    def forward(self, x):
        return self.layer(x)
"""


def _found(tmp_path: Path, name: str) -> str:
    absent, target = agent_module("inputs.importing.absent"), agent_module("inputs.synthesis.target")
    text = f"import bases_of_test\nBase, Layer = bases_of_test.BASE, bases_of_test.LAYER\n{PROGRAM}"
    error = ModuleNotFoundError("No module named 'absent_parts'")
    stubs = imported(tmp_path / "bases_of_test.py", "BASE = LAYER = None\n")
    stubs.BASE, stubs.LAYER = absent.Stub(error), absent.Stub(error)
    module = imported(tmp_path / f"named_{name.lower()}.py", text)
    return str(target.find_call(module, name, target.SearchBudget()).expression)


@pytest.mark.parametrize("name", ["Policy", "Plain"])
def test_a_constructor_that_is_called_by_name_keeps_what_it_gets(tmp_path: Path, name: str) -> None:
    assert _found(tmp_path, name).startswith(f"{name}(")


@pytest.mark.parametrize("name", ["Parts", "Part"])
def test_an_error_about_a_stub_is_that_of_the_import(tmp_path: Path, name: str) -> None:
    search = agent_module("inputs.synthesis.trying.search")
    with pytest.raises(
        search.NotFound, match=r"^its constructor failed: ModuleNotFoundError: No module named 'absent_parts'$"
    ):
        _found(tmp_path, name)
