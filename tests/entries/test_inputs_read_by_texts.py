"""What a program reads by texts, or unpacks into a call, becomes a dictionary with all that it needs, in the shapes of its layers."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.agent_package import agent_module, imported

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

target = agent_module("inputs.synthesis.target")

MODULES = '''\
import math
from typing import Dict, Literal

import torch
from torch import Tensor, nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(100, 16)

    def forward(self, input_ids=None, inputs_embeds=None, output_hidden_states=False):
        if (input_ids is None) ^ (inputs_embeds is not None):
            raise ValueError("You must specify exactly one of input_ids or inputs_embeds")
        return self.words(input_ids) if inputs_embeds is None else inputs_embeds


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.head = Encoder(), nn.Sequential(nn.Linear(16, 16), nn.Linear(16, 2))

    def forward(self, x, only_head=False):
        if only_head:
            return self.head(x)
        return self.head(self.encoder(**x, output_hidden_states=True).mean(1))


class Fields(nn.Module):
    def __init__(self):
        super().__init__()
        self.of_users, self.of_items = nn.Linear(5, 1), nn.Linear(3, 1)
        self.users, self.items = nn.Embedding(7, 1), nn.Embedding(9, 1)

    def forward(self, x):
        """
        :param x: Long tensor of size ``(batch_size, num_fields)``
        """
        known = self.of_users(x["user_features"]) + self.of_items(x["item_features"])
        return (known + self.users(x["user"]) + self.items(x["item"])).sum(1)


class Recommender(nn.Module):
    def __init__(self):
        super().__init__()
        self.fields = Fields()

    def forward(self, x):
        return torch.sigmoid(self.fields(x))


class EnergyLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.error = nn.SmoothL1Loss()

    def forward(
        self, pred: Dict[Literal["energy", "forces"], Tensor], label: Dict[Literal["energy", "forces"], Tensor]
    ):
        count = math.prod(pred["forces"].shape[:-1])
        error = self.error(pred["energy"], label["energy"]) + self.error(pred["forces"], label["forces"])
        return error / count
'''


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> object:
    file: Path = tmp_path_factory.mktemp("read") / "read_by_texts.py"
    return imported(file, MODULES)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Classifier", '(x={"input_ids": int64[2, 16] < 100})'),
        (
            "Recommender",
            '{"user_features": float32[2, 5], "item_features": float32[2, 3], "user": int64[2] < 7, "item": int64[2] < 9}',
        ),
        ("EnergyLoss", 'label={"energy": float32['),
    ],
)
def test_what_is_read_by_texts_is_there_at_once(modules: object, name: str, shown: str) -> None:
    assert shown in target.find_call(modules, name, target.SearchBudget(trials=12)).expression
