"""A dictionary that becomes the arguments of a part has what the part's own constructor demands, however deep."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.entries.agent_package import agent_module, expression_found, imported

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

MODULES = """\
from torch import nn


class Encoder(nn.Module):
    def __init__(self, layers: list, activation: str, features: int):
        super().__init__()
        activations = {"relu": nn.ReLU, "selu": nn.SELU}
        made = []
        for layer in layers:
            made += [nn.Conv1d(features, layer["filters"], layer["kernel"][0]), activations[activation]()]
            features = layer["filters"]
        self.net = nn.Sequential(*made)

    def forward(self, x):
        return self.net(x)


class Decoder(nn.Module):
    def __init__(self, features: int, classes: int):
        super().__init__()
        self.layer = nn.Linear(features, classes)

    def forward(self, x):
        return self.layer(x.mean(-1))


class Whole(nn.Module):
    def __init__(self, encoder_settings: dict, decoder_settings: dict):
        super().__init__()
        self.encoder = Encoder(**encoder_settings)
        self.decoder = Decoder(classes=5, **decoder_settings)

    def forward(self, x):
        return self.decoder(self.encoder(x))
"""


def test_settings_are_solved_for_as_the_part_demands(tmp_path: Path) -> None:
    found = expression_found(tmp_path / "settings_of_parts.py", MODULES, "Whole")
    assert (
        'encoder_settings={"layers": [{"filters": 64, "kernel": (3, 3)}], "activation": \'relu\', "features": 64}'
        in found
    )
    assert 'decoder_settings={"features": 64}' in found


NESTED = """\
from torch import nn


class Tree(nn.Module):
    def __init__(self, depth: int, child_settings: dict):
        super().__init__()
        self.child = Tree(**child_settings)

    def forward(self, x):
        return self.child(x)
"""


def test_a_part_of_its_own_class_is_constructed_alone_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    construction = agent_module("inputs.synthesis.making.construction")
    module = imported(tmp_path / "nested_settings.py", NESTED)
    of_budget, constructions = construction.SearchBudget, construction.constructions
    seconds: list[float] = []

    def noted(module: object, path: str, cls: type, budget: Any, given: object) -> Any:
        seconds.append(budget.seconds)
        return constructions(module, path, cls, budget, given)

    monkeypatch.setattr(construction, "constructions", noted)
    monkeypatch.setattr(construction, "PART_S", 1e6)
    with pytest.raises(construction.NotFound):
        list(constructions(module, "Tree", module.Tree, of_budget(24, 20.0), {}))
    assert len(seconds) == 1
    assert seconds[0] <= 20.0
