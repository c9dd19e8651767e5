"""Inputs of one call hold equally many items, and what is flattened beside them has one number for each."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.agent_package import agent_module, imported

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

target = agent_module("inputs.synthesis.target")
shape_text = agent_module("inputs.synthesis.source.shape_text")

MODULES = '''\
import torch
from torch import Tensor, nn


def chosen(x, places):
    return torch.cat([torch.gather(x, 1, each.unsqueeze(-1).repeat(1, 1, x.size(-1))) for each in places], dim=0)


def repeated(x, count):
    return torch.cat([x[number * count : (number + 1) * count] for number in range(len(x) // count)], dim=0)


class Predictor(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(64, 32)
        self.positions = nn.Parameter(torch.zeros(1, 196, 32), requires_grad=False)

    def forward(self, context, target, seen, hidden):
        """
        :param context: context tokens
        :param target: target tokens
        :param seen: indices of context tokens in input
        :params hidden: indices of target tokens in input
        """
        seen, hidden = [seen], [hidden]
        x = self.embed(context)
        batch, steps, _ = x.shape
        x = x + chosen(self.positions.repeat(batch, 1, 1), seen)
        wanted = self.embed(target) + repeated(chosen(self.positions.repeat(batch, 1, 1), hidden), batch)
        return torch.cat([x, wanted], dim=1)[:, steps:]


def padded(scores):
    return torch.cat([scores, torch.zeros_like(scores[:, :1])], dim=1)


class SurvivalLoss(nn.Module):
    def forward(self, phi: Tensor, idx_durations: Tensor, events: Tensor, rank_mat: Tensor) -> Tensor:
        events, places, scores = events.view(-1), idx_durations.view(-1, 1), padded(phi)
        known = scores.gather(1, places).view(-1).sub(scores.max(1)[0]).mul(events)
        later = scores.softmax(1).matmul(torch.zeros_like(scores).scatter(1, places, 1.0).transpose(0, 1))
        return known.mean() + (rank_mat * torch.exp(-later)).mean()


class FollowingLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.shaped, self.entropy = nn.Conv2d(64, 64, 1), nn.CrossEntropyLoss()

    def forward(self, x, y):
        y, error = self.shaped(y), 0
        rows = torch.arange(x.shape[2])
        for number in range(2):
            predicted = x[:, number * y.shape[1] : (number + 1) * y.shape[1], :, :]
            rows = (rows + 1) % x.shape[2]
            error = error + torch.sum(predicted * y[:, :, rows, :], dim=1).mean()
        return error


class Joined(nn.Module):
    def forward(self, frames: Tensor, states: Tensor):
        """
        :param frames: (N, 4)
        :param states: (batch, 6)
        """
        return torch.cat([frames, states], dim=1)
'''


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> object:
    file: Path = tmp_path_factory.mktemp("items") / "items_of_inputs.py"
    return imported(file, MODULES)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Predictor", "seen=int64[2, 16], hidden=int64[2, 16]"),
        ("SurvivalLoss", "events=float32[4], rank_mat=float32[4, 4]"),
        ("FollowingLoss", "(x=float32[2, 128, "),
        ("Joined", "(frames=float32[2, 4], states=float32[2, 6])"),
    ],
)
def test_inputs_hold_equally_many_items(modules: object, name: str, shown: str) -> None:
    assert shown in target.find_call(modules, name, target.SearchBudget(trials=30)).expression


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("context tokens", None),
        ("pixel values of the next image", None),
        ("batch x 3 x height x width", ("batch", "3", "height", "width")),
        ("Bx3xHxW", ("B", "3", "H", "W")),
        ("bxcxhxw", ("b", "c", "h", "w")),
        ("an image of size 3x224x224", ("3", "224", "224")),
        ("points, nx3", ("n", "3")),
        ("N×C", ("N", "C")),
    ],
)
def test_an_x_inside_of_a_word_parts_no_sizes(text: str, shape: tuple[str, ...] | None) -> None:
    assert shape_text.written_shape(text) == shape


@pytest.mark.parametrize(
    ("text", "dtype"),
    [
        ("indices of context tokens in input", "int64"),
        ("list of indices to keep", "int64"),
        ("Int tensor with the number of each duration", "int64"),
        ("the index of refraction", ""),
    ],
)
def test_a_description_tells_of_integers(text: str, dtype: str) -> None:
    assert shape_text.dtype_in(text) == dtype


def test_types_in_braces_come_before_a_description() -> None:
    text = "Arguments:\n    phi {torch.tensor} -- Scores [batch, steps].\n    places {torch.tensor} -- Int tensor of places."
    found = shape_text.parameter_descriptions(text, ("phi", "places"))
    assert found == {"phi": "Scores [batch, steps].", "places": "Int tensor of places."}
