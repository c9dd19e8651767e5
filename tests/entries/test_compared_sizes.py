"""The sizes that a program compares before it raises, and those of two arguments of a constructor that must be alike."""

from __future__ import annotations

import re

import pytest
from tests.entries.agent_package import agent_module, imported

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

target = agent_module("inputs.synthesis.target")
asserted_sizes = agent_module("inputs.synthesis.errors.asserted_sizes")

MODULES = """\
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence


class Windows(nn.Module):
    def __init__(self, dim, input_resolution, window_size):
        super().__init__()
        self.input_resolution, self.window_size = input_resolution, window_size
        self.layer = nn.Linear(dim, dim)

    def forward(self, x):
        H, W = self.input_resolution
        B, L, C = x.shape
        assert L == H * W, "input feature has wrong size"
        size = self.window_size
        return self.layer(x.view(B, H // size, size, W // size, size, C))


class Grouped(nn.Module):
    def __init__(self, in_channels):
        super().__init__()
        self.norm = nn.GroupNorm(32, in_channels)

    def forward(self, x):
        return self.norm(x)


class Residual(nn.Module):
    def __init__(self, inplanes, planes):
        super().__init__()
        self.layer = nn.Conv2d(inplanes, planes, 3, padding=1)

    def forward(self, x):
        return x + self.layer(x)


class Wrapped(nn.Module):
    def __init__(self, backbone):
        super().__init__()
        if not hasattr(backbone, "out_channels"):
            raise ValueError("backbone should contain an attribute out_channels specifying the number of channels")
        self.backbone = backbone
        self.head = nn.Conv2d(backbone.out_channels, 4, 1)

    def forward(self, images):
        return self.head(self.backbone(images))


class Packed(nn.Module):
    def __init__(self, hidden_size, embedding):
        super().__init__()
        self.embedding = embedding
        self.gru = nn.GRU(hidden_size, hidden_size)

    def forward(self, tokens, lengths):
        return self.gru(pack_padded_sequence(self.embedding(tokens), lengths))[1]


class Pyramid(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Conv2d(8, 4, 1), nn.Conv2d(8, 4, 1)])

    def forward(self, maps: dict[str, torch.Tensor]):
        return {key: layer(value) for layer, (key, value) in zip(self.layers, maps.items())}


class Graph(nn.Module):
    def __init__(self, nfeat):
        super().__init__()
        self.layer = nn.Linear(nfeat, 5)

    def forward(self, x, adj):
        return adj @ self.layer(x)


class Digits(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(1, 2, 9), nn.Conv2d(2, 4, 9, stride=2))
        self.weights = nn.Parameter(torch.zeros(4 * 6 * 6))

    def forward(self, x):
        return self.layers(x).flatten(1) * self.weights


class Views(nn.Module):
    def __init__(self, base_encoder, dim=8):
        super().__init__()
        self.encoder = base_encoder(num_classes=dim)

    def forward(self, x):
        return self.encoder(x)


class Small(nn.Module):
    def __init__(self, num_classes=4):
        super().__init__()
        self.layer = nn.Linear(6, num_classes)

    def forward(self, x):
        return self.layer(x)


class SentenceEncoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def forward(self, x):
        return self.layer(x)


class Pair(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder

    def forward(self, x):
        return self.encoder(x)
"""


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> object:
    file = tmp_path_factory.mktemp("compared") / "compared_sizes.py"
    return imported(file, MODULES)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Windows", "(x=float32[2, 784, 64])"),
        ("Grouped", "Grouped(in_channels=32)(x=float32[2, 32, "),
        ("Wrapped", "Wrapped(backbone=torch.nn.Conv2d(3, 64, 3, padding=1))(images=float32["),
        ("Packed", "embedding=torch.nn.Embedding(256, 64))(tokens=int64["),
        ("Pyramid", '(maps={"first": float32['),
        ("Graph", "(x=float32[8, 64], adj=float32[8, 8])"),
        ("Digits", "Digits()(x=float32[2, 1, 28, 28])"),
        ("Views", "Views(base_encoder=Small)"),
        ("Pair", "Pair(encoder=SentenceEncoder(width="),
    ],
)
def test_a_comparison_leads_to_a_call(modules: object, name: str, shown: str) -> None:
    found = target.find_call(modules, name, target.SearchBudget())
    assert shown in found.expression


def test_two_arguments_of_a_constructor_become_one_size(modules: object) -> None:
    found = target.find_call(modules, "Residual", target.SearchBudget())
    one, other = re.findall(r"planes=(\d+)", found.expression)
    assert one == other


def _error(function: object, *arguments: object) -> BaseException:
    with pytest.raises(Exception) as caught:
        function(*arguments)  # type: ignore[operator]
    return caught.value


def _checks(width: int, heads: int, sides: tuple[int, int]) -> None:
    assert width % heads == 0
    if sides[0] != sides[1] or width != 12:
        raise ValueError("wrong")


def test_both_sides_of_a_comparison_are_evaluated_again() -> None:
    assert list(asserted_sizes.compared_sizes(_error(_checks, 10, 4, (2, 2)))) == [("size", "10 12")]
    assert ("size", "8 12") in asserted_sizes.compared_sizes(_error(_checks, 8, 4, (2, 2)))
    assert ("size", "2 3") in asserted_sizes.compared_sizes(_error(_checks, 12, 4, (2, 3)))


def test_other_errors_compare_nothing() -> None:
    assert not list(asserted_sizes.compared_sizes(_error(lambda: {}["absent"])))
