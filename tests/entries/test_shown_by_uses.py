"""What the inputs of a call are follows from what a program does with them: who gets them, what they index, what is unpacked of them."""

from __future__ import annotations

import pytest
from tests.entries.agent_package import agent_module, imported

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

target = agent_module("inputs.synthesis.target")

MODULES = """\
from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn


class Tree(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.layer = nn.Linear(width, 3 * width)

    def forward(self, features, order):
        found = []
        for step in range(order.max() + 1):
            found.append(self.run_step(step, features, order))
        return torch.cat(found)

    def run_step(self, step, features, order):
        # order is a tensor of size N x 1
        is_now = order == step
        chosen = features[is_now, :]
        one, two, three = torch.split(self.layer(chosen), 8, dim=1)
        if step > 0:
            one = torch.stack([row for row in one if row.isnan().any()])
        return one + two + three


class Step(nn.Module):
    def __init__(self, words=40, width=12):
        super().__init__()
        self.table = nn.Embedding(words, width)
        self.rnn = nn.LSTM(width, 20, 3)
        self.out = nn.Linear(20, words)

    def forward(self, word, hidden, cell):
        x = self.table(word).unsqueeze(0)
        x, state = self.rnn(x, (hidden, cell))
        return self.out(x.squeeze(0)), state


class OneWord(nn.Module):
    def __init__(self, words=40, width=12):
        super().__init__()
        self.table = nn.Embedding(words, width)
        self.gru = nn.GRU(width, width)

    def forward(self, word, hidden):
        return self.gru(self.table(word).view(1, 1, -1), hidden)


class Layered(nn.Module):
    def __init__(self):
        super().__init__()
        self.gates = nn.ModuleList([nn.Conv2d(4 + 6, 12, 3, padding=1), nn.Conv2d(12, 12, 3, padding=1)])

    def forward(self, x, states):
        batch, channels, height, width = x.shape
        for index, gate in enumerate(self.gates):
            hidden, cell = states[index]
            one, two = gate(torch.cat([x, hidden], dim=1)).chunk(2, dim=1)
            x = one.sigmoid() * cell + two.tanh()
        return x


@dataclass
class Views:
    left: Tensor  # [C, H, W]
    right: Tensor  # [C, H, W]

    def stacked(self):
        return torch.stack([self.left, self.right]).unsqueeze(0)


class Robot(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Conv2d(3, 8, 3)

    def forward(self, views: Views):
        images = views.stacked()
        return torch.stack([self.layer(images[:, index]) for index in range(2)])


class Readout(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.gate = nn.Linear(width, 1)

    def forward(self, node_feats, batch_idx, num_graphs):
        rows = torch.zeros(num_graphs, node_feats.size(1))
        return rows.index_add_(0, batch_idx, self.gate(node_feats).sigmoid() * node_feats)
"""


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> object:
    file = tmp_path_factory.mktemp("uses") / "shown_by_uses.py"
    return imported(file, MODULES)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Tree", "order=int64[2] == 0"),
        ("Step", "(word=int64[2] < 40, hidden=float32[3, 2, 20], cell=float32[3, 2, 20])"),
        ("OneWord", "(word=int64[1, 1] < 40, hidden=float32[1, 1, 12])"),
        ("Layered", "states=[(float32[2, 6, 10, 8], float32[2, 6, 10, 8]), "),
        ("Robot", "Views(left=float32[3, 32, 32], right=float32[3, 32, 32])"),
        ("Readout", "(node_feats=float32[2, 16], batch_idx=int64[2] < 2, num_graphs=2)"),
    ],
)
def test_a_use_leads_to_a_call(modules: object, name: str, shown: str) -> None:
    found = target.find_call(modules, name, target.SearchBudget())
    assert shown in found.expression
