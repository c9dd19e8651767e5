"""A script that constructs no model that is known: one that it imports is called, and the outcome says which."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.script_runs import project

from compile_lens.pipeline.entry_choice import choose
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")

NETS = """\
import torch


class Mixer(torch.nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.mix = torch.nn.Linear(width, width)

    def forward(self, x):
        return self.mix(x)


class WidthLoss(torch.nn.Module):
    def forward(self, x):
        return x.mean()


class Stack(torch.nn.Module):
    def __init__(self, width=8, depth=2):
        super().__init__()
        self.layers = torch.nn.ModuleList(Mixer(width) for _ in range(depth))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

    @classmethod
    def from_folder(cls, folder):
        return cls(**torch.load(folder / "sizes.pt"))
"""
SETTINGS = """\
from shop.nets import Stack

NAMES = {"stack": Stack}
"""
# the model comes from what the options say, which is not here
BY_OPTIONS = """\
import json

from shop import settings


def main():
    options = json.load(open("/nowhere/options.json"))
    trainer = options.pop("trainer")
    trainer.fit(settings)


main()
"""
BY_A_CLASS_METHOD = """\
import json
import pathlib


def restored(folder):
    from shop.nets import Stack

    return Stack.from_folder(pathlib.Path(folder))


folder = json.load(open("/nowhere/options.json"))["folder"]
if folder:
    restored(folder)
"""
FROM_ELSEWHERE = """\
from shop.old.network import Stack

Stack(width=12, depth=1).train()
"""
OWN = """\
import json

import torch
from shop.nets import Stack


class Own(torch.nn.Module):
    def forward(self, x):
        return x + 1


json.load(open("/nowhere/options.json"))["run"](Own)
"""


@pytest.mark.parametrize(
    ("source", "made", "note"),
    [
        (
            BY_OPTIONS,
            "Stack()",
            "Called `Stack` of `nets.py`, which the script imports, because no model that it constructs",
        ),
        (BY_A_CLASS_METHOD, "Stack()", ""),
        (FROM_ELSEWHERE, "width=12", "Used `Stack` of `nets.py`, because `shop.old.network` cannot be imported."),
    ],
)
def test_what_a_script_imports_is_called(
    tmp_path: Path, warm_host: WarmHost, source: str, made: str, note: str
) -> None:
    files = {"pyproject.toml": "[project]\nname = 'shop'\n", "shop/__init__.py": "", "shop/nets.py": NETS}
    project(tmp_path, files | {"shop/settings.py": SETTINGS, "shop/train.py": source})
    outcome = warm_host.run_choice(
        str(tmp_path / "shop/train.py"), choose(str(tmp_path / "shop/train.py"), source, tmp_path, "model")
    )
    assert [call.target for call in outcome.calls] == ["Stack"], outcome.failure
    assert made in outcome.calls[0].making and outcome.graphs, outcome.calls
    assert [each for each in outcome.notes if "`Stack` of" in each][:1] == [
        each for each in outcome.notes if note and note in each
    ]


def test_a_file_with_a_model_of_its_own_is_about_that(tmp_path: Path, warm_host: WarmHost) -> None:
    project(tmp_path, {"pyproject.toml": "", "shop/__init__.py": "", "shop/nets.py": NETS, "shop/train.py": OWN})
    file = str(tmp_path / "shop/train.py")
    assert not warm_host.run_choice(file, choose(file, OWN, tmp_path, "model")).calls
