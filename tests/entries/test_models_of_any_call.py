"""A model that a program calls with several arguments, or by name, is one that takes whatever is passed."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
from tests.entries.agent_package import agent_module, imported

from compile_lens.entries.call_grammar import OF_ANY_CALL, written_call
from compile_lens.syntax.tree import parse

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

target = agent_module("inputs.synthesis.target")
stand_ins = agent_module("inputs.synthesis.changes.stand_ins")

MODULES = """\
import torch
from torch import nn


class Autoregressive(nn.Module):
    def __init__(self, net: nn.Module):
        super().__init__()
        self.net = net

    def forward(self, tokens):
        inputs, target = tokens[:, :-1], tokens[:, 1:]
        mask = torch.ones(inputs.shape[1], inputs.shape[1], dtype=torch.bool).tril()
        return nn.functional.cross_entropy(self.net(inputs, attn_mask=mask).transpose(1, 2), target)


class Diffusion(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model, self.channels = model, model.channels
        assert isinstance(model, nn.Module)

    def forward(self, images):
        times = torch.randint(0, 10, images.shape[:1])
        return (self.model(images, times, condition=None) - images).square().mean()
"""


@pytest.fixture(scope="module")
def wrappers(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    folder: Path = tmp_path_factory.mktemp("wrappers")
    return imported(folder / "wrappers_of_models.py", MODULES)


@pytest.mark.parametrize("name", ["Autoregressive", "Diffusion"])
def test_the_call_is_found_and_may_be_kept(wrappers: ModuleType, name: str) -> None:
    found = target.find_call(wrappers, name, target.SearchBudget()).expression
    assert "type(" in found
    assert written_call(parse(MODULES), found) is not None


def test_only_the_two_classes_of_torch_may_be_written() -> None:
    assert {f"{each}()" for each in OF_ANY_CALL} >= {stand_ins.OF_ANY_CALL.replace('"', "'")}
    call = f"Diffusion(model={stand_ins.OF_ANY_CALL})(images=float32[2, 3, 8, 8])"
    assert written_call(parse(MODULES), call) is not None
    assert written_call(parse(MODULES), call.replace("[0]", "[1]")) is None
    for line in (
        "from os import system as type\n",
        "import other as torch\n",
        "from elsewhere import *\n",
        "type = print\n",
    ):
        assert written_call(parse(line + MODULES.replace("import torch\n", "")), call) is None
