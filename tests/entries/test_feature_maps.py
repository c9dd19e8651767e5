"""What a decoder gets of a backbone: a list of feature maps, each half as large as the one before."""

from __future__ import annotations

import pytest
from tests.entries.agent_package import agent_module, imported

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

target = agent_module("inputs.synthesis.target")

MODULES = """\
import torch
from torch import nn
from torch.nn import functional


class Up(nn.Module):
    def __init__(self, in_channels, skip_channels, out_channels):
        super().__init__()
        self.layer = nn.Conv2d(in_channels + skip_channels, out_channels, 3, padding=1)

    def forward(self, x, skip=None):
        x = functional.interpolate(x, scale_factor=2)
        if skip is not None:
            x = torch.cat([x, skip], dim=1)
        return self.layer(x)


class Decoder(nn.Module):
    def __init__(self, encoder_channels=(3, 8, 16, 32), decoder_channels=(24, 12, 6)):
        super().__init__()
        channels = encoder_channels[1:][::-1]
        takes = [channels[0], *decoder_channels[:-1]]
        skips = [*channels[1:], 0]
        self.blocks = nn.ModuleList([Up(*each) for each in zip(takes, skips, decoder_channels)])

    def forward(self, *features):
        features = features[1:][::-1]
        x, skips = features[0], features[1:]
        for index, block in enumerate(self.blocks):
            x = block(x, skips[index] if index < len(skips) else None)
        return x


class Head(nn.Module):
    def __init__(self, widths=(8, 16, 24, 32)):
        super().__init__()
        self.layers = nn.ModuleList([nn.Conv2d(width, 4, 1) for width in widths])
        self.fuse = nn.Conv2d(16, 2, 1)

    def forward(self, x):
        c1, c2, c3, c4 = x
        maps = [layer(each) for layer, each in zip(self.layers, (c1, c2, c3, c4))]
        return self.fuse(torch.cat([functional.interpolate(each, size=c1.shape[2:]) for each in maps], dim=1))


class Pyramid(nn.Module):
    def __init__(self, in_channels_list, out_channels):
        super().__init__()
        self.inner = nn.ModuleList([nn.Conv2d(width, out_channels, 1) for width in in_channels_list])

    def forward(self, inputs):
        maps = [layer(inputs[index]) for index, layer in enumerate(self.inner)]
        for index in range(len(maps) - 1, 0, -1):
            maps[index - 1] = maps[index - 1] + functional.interpolate(maps[index], scale_factor=2)
        return maps
"""


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> object:
    file = tmp_path_factory.mktemp("maps") / "feature_maps_of_backbones.py"
    return imported(file, MODULES)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (
            "Decoder",
            "(float32[2, 3, 64, 64], float32[2, 8, 32, 32], float32[2, 16, 16, 16], float32[2, 32, 8, 8])",
        ),
        (
            "Head",
            "x=[float32[2, 8, 64, 64], float32[2, 16, 32, 32], float32[2, 24, 16, 16], float32[2, 32, 8, 8]]",
        ),
        ("Pyramid", "inputs=[float32[2, 64, 64, 64], float32[2, 64, 32, 32]]"),
    ],
)
def test_a_list_of_feature_maps_is_made(modules: object, name: str, shown: str) -> None:
    assert shown in target.find_call(modules, name, target.SearchBudget()).expression
