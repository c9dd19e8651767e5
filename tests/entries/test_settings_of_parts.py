"""A dictionary that becomes the arguments of a part has what the part's own constructor demands, however deep."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.agent_package import expression_found

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
