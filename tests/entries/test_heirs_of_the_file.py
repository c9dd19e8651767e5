"""A base class that reads what only its subclasses set is called by way of one of them, also of one of its own file."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.agent_package import agent_module, expression_found, imported

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

target = agent_module("inputs.synthesis.target")

MODULES = """\
from torch import nn


class Base(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        return self.mix(x) * self.gain


class Heir(Base):
    def __init__(self, dim):
        super().__init__(dim)
        self.mix = nn.Linear(dim, dim)
        self.gain = 2.0


class Template(nn.Module):
    def forward(self, x):
        return self.transform(x) + 1


class Real(Template):
    def __init__(self, width=8):
        super().__init__()
        self.net = nn.Linear(width, 3)

    def transform(self, x):
        return self.net(x)


class Mistaken(nn.Module):
    def __init__(self):
        super().__init__()
        self.widht = 3

    def forward(self, x):
        return x * self.width


class Alike(Mistaken):
    def forward(self, x):
        return x
"""


@pytest.mark.parametrize(
    ("name", "expression"),
    [
        ("Base", "Heir(dim=64)(x=float32[2, 16, 64])"),
        ("Template", "Real()(x=float32[2, 16, 8])"),
    ],
)
def test_what_subclasses_set_is_there(tmp_path: Path, name: str, expression: str) -> None:
    assert expression_found(tmp_path / f"heirs_{name.lower()}.py", MODULES, name) == expression


def test_what_no_subclass_has_is_an_error_of_the_class(tmp_path: Path) -> None:
    module = imported(tmp_path / "heirs_mistaken.py", MODULES)
    with pytest.raises(target.NotFound, match="no attribute 'width'"):
        target.find_call(module, "Mistaken", target.SearchBudget(20, 5.0))
