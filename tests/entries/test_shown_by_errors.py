"""What an error says of a call that was made up leads to one that works: dimensions, sizes, parts, weights, the mode."""

from __future__ import annotations

import pytest
from tests.entries.agent_package import agent_module, imported

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

target = agent_module("inputs.synthesis.target")

MODULES = """\
import torch
from torch import nn


class Embeddings(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.padding_idx = 0
        self.table = nn.Embedding(50, width)

    def forward(self, tokens):
        return self.table(tokens)


class Decoder(nn.Module):
    def __init__(self, embeddings, kind):
        super().__init__()
        self.padding = embeddings.padding_idx
        self.block = Block(8, attention=kind)

    def forward(self, x):
        return self.block(x)


class Block(nn.Module):
    def __init__(self, width, attention):
        super().__init__()
        if attention == "scaled-dot":
            self.layer = nn.Linear(width, width)

    def forward(self, x):
        return self.layer(x)


class Pretrained(nn.Module):
    def __init__(self, weights="DEFAULT", load_backbone=True, width=6):
        super().__init__()
        if weights or load_backbone:
            raise OSError("the hub cannot be reached")
        self.layer = nn.Linear(width, width)

    def forward(self, x):
        return self.layer(x)


class Pitch(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(1, 4, (64, 1), stride=(64, 1)), nn.BatchNorm2d(4))

    def forward(self, x):
        x = x[:, None, :, None]
        return self.layers(x).reshape(-1, 4 * 4)


class Joint(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(30, 6)
        self.scale = nn.Parameter(torch.ones(6))

    def forward(self, text, tokens):
        states = nn.functional.layer_norm(tokens, tokens.shape[-1:], self.scale)
        return torch.einsum("b i d, b j d -> b i j", self.table(text), states)


class Trained(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Conv2d(3, 4, 3)

    def forward(self, images, targets=None):
        if self.training:
            raise ValueError("in training mode, targets should be passed")
        return self.layer(images)


class Reversible(nn.Module):
    def __init__(self, blocks: list[tuple[nn.Module, nn.Module]]):
        super().__init__()
        self.blocks = nn.ModuleList([nn.ModuleList(pair) for pair in blocks])

    def forward(self, x):
        for one, other in self.blocks:
            x = x + one(x) + other(x)
        return x


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(24, 8)

    def forward(self, sequence):
        parts = torch.split(sequence.data, sequence.batch_sizes.tolist())
        return torch.stack([self.cell(part)[0] for part in parts])


class Resized(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Conv2d(3, 4, 3)])

    def forward(self, inp):
        inp = nn.functional.interpolate(inp, size=(12, 12), mode="bilinear")
        for layer in self.layers:
            inp = layer(inp)
        return inp


class Metric(nn.Module):
    def __init__(self):
        super().__init__()
        self.weights = nn.Parameter(torch.ones(6))

    def size(self):
        return 6

    def compute_metric(self, x):
        return (torch.softmax(self.weights, 0) * x).sum(-1)


class Keyed(nn.Module):
    def forward(self, x, **kwargs):
        return x * kwargs["weight_of_x"].mean()
"""


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> object:
    file = tmp_path_factory.mktemp("shown") / "shown_by_errors.py"
    return imported(file, MODULES)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Decoder", "), kind='scaled-dot')(x=float32[2, 16, 8])"),
        ("Pretrained", "Pretrained(weights=None, load_backbone=False)(x=float32[2, 16, 6])"),
        ("Pitch", "Pitch()(x=float32[2, 128])"),
        ("Joint", "tokens=float32["),
        ("Trained", "Trained().eval()(images=float32[2, 3, 32, 32])"),
        ("Keyed", "weight_of_x="),
        ("Reversible", "Reversible(blocks=[(torch.nn.Identity(), torch.nn.Identity()), (torch."),
        ("Recurrent", "(sequence=torch.nn.utils.rnn.pack_sequence(sequences=[float32[16, 24], float32[16, 24]]))"),
        ("Resized", "Resized()(inp=float32[2, 3, "),
        ("Metric", "Metric().compute_metric(x=float32["),
    ],
)
def test_an_error_leads_to_a_call(modules: object, name: str, shown: str) -> None:
    found = target.find_call(modules, name, target.SearchBudget())
    assert shown in found.expression
