"""Names that a program looks up: of a library by an option, among what its error lists, and among functions or classes; and a number where
an annotation says several."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
from tests.entries.agent_package import agent_module, imported

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

target = agent_module("inputs.synthesis.target")

MODULES = """\
import torch
from torch import nn


class Typed(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.dtype = getattr(torch, config.dtype)
        self.layer = nn.Linear(8, 8, dtype=self.dtype)

    def forward(self, x):
        return self.layer(x.to(self.dtype))


class Keyed(nn.Module):
    def __init__(self, options):
        super().__init__()
        self.layer = nn.Linear(8, 8, dtype=getattr(torch, options["precision"]))

    def forward(self, x):
        return self.layer(x)


class _Registry:
    _known = {"huber": nn.HuberLoss, "squares": nn.MSELoss}

    @classmethod
    def make(cls, name):
        found = cls._known.get(name.lower())
        if found is None:
            listed = ", ".join(sorted(cls._known))
            raise ValueError(f"Loss {name!r} not found in registry.\\nAvailable losses: {listed}\\nTip: register it")
        return found()


class Combined(nn.Module):
    def __init__(self, losses: list):
        super().__init__()
        self.losses = nn.ModuleList(_Registry.make(each["name"]) for each in losses)

    def forward(self, pred, target):
        return sum(loss(pred, target) for loss in self.losses)


class Chosen(nn.Module):
    def __init__(self, make):
        super().__init__()
        assert make in {nn.Tanh, nn.Sigmoid}
        self.act = make()

    def forward(self, x):
        return self.act(x)


class Written(nn.Module):
    def __init__(self, layout, other):
        super().__init__()
        rows, _, columns = layout.partition("x")
        self.layer = nn.Linear(8, 8 if columns else 4)
        self.last = other.split(",")[-1].upper()

    def forward(self, x):
        return self.layer(x)


class Flat(nn.Module):
    def __init__(self, x_shape: tuple[int, int, int]):
        super().__init__()
        self.layer = nn.Linear(x_shape, 4)

    def forward(self, x):
        return self.layer(x)
"""


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    folder: Path = tmp_path_factory.mktemp("words")
    return imported(folder / "refused_words.py", MODULES)


@pytest.mark.parametrize(
    ("name", "making"),
    [
        ("Typed", "Typed(config=types.SimpleNamespace(dtype='float32'))"),
        ("Keyed", "Keyed(options={\"precision\": 'float32'})"),
        ("Combined", "Combined(losses=[{\"name\": 'huber'}])"),
        ("Chosen", "Chosen(make=torch.nn.modules.activation.Sigmoid)"),
        ("Written", "Written(layout='mean', other='mean')"),
        ("Flat", "Flat(x_shape=8)"),
    ],
)
def test_what_the_program_finds(words: ModuleType, name: str, making: str) -> None:
    assert target.find_call(words, name, target.SearchBudget()).making == making
