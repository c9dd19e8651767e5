"""What the error of a call tells of its inputs: masks that must be on, keys, indices, sizes that only differ for several tensors."""

from __future__ import annotations

import pytest
from tests.entries.agent_package import agent_module, imported

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

target = agent_module("inputs.synthesis.target")

MODULES = '''\
from typing import Dict

import torch
from torch import Tensor, nn


class Tagged(nn.Module):
    def forward(self, emissions, mask):
        if not mask.all():
            raise ValueError("the mask must all be on")
        return (emissions * mask.unsqueeze(-1))[:, 7]


class Named(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleDict({"drug": nn.Linear(5, 3), "cell": nn.Linear(5, 3)})

    def forward(self, x: Dict[str, Tensor]):
        return sum(self.layers[key](value) for key, value in x.items())


class Spectrogram(nn.Module):
    def __init__(self, whole=200):
        super().__init__()
        self.whole = whole
        self.register_buffer("window", torch.hann_window(whole))

    def forward(self, magnitude, phase):
        return torch.istft(magnitude * torch.exp(1j * phase), self.whole, self.whole // 4, window=self.window)


class Flattened(nn.Module):
    def forward(self, x: Tensor):
        """
        :param x: a volume of flattened 3x3 symmetric matrices of shape **Bx9xDxHxW**
        """
        return torch.linalg.eigh(x.permute(0, 2, 3, 4, 1).reshape(-1, 3, 3))[0]


class Encoded(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(16, 2, 16)

    def forward(self, x, attention_mask):
        return self.layer(x, src_key_padding_mask=attention_mask.flatten(1))


class Edges(nn.Module):
    def __init__(self, hidden_nf=32, in_edge_nf=4):
        super().__init__()
        self.edge = nn.Linear(2 * hidden_nf + in_edge_nf + 1, hidden_nf)
        self.node = nn.Linear(2 * hidden_nf, hidden_nf)

    def forward(self, h, coord, edges, edge_attr):
        row, col = edges
        distance = ((coord[row] - coord[col]) ** 2).sum(1, keepdim=True)
        message = self.edge(torch.cat([h[row], h[col], distance, edge_attr], dim=1))
        gathered = torch.zeros(h.size(0), message.size(1)).index_add_(0, row, message)
        return self.node(torch.cat([h, gathered], dim=1))
'''


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> object:
    file = tmp_path_factory.mktemp("told") / "told_by_errors.py"
    return imported(file, MODULES)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Encoded", "attention_mask=bool["),
        ("Tagged", "mask=bool[2, 16] == 1"),
        ("Named", '{"drug": float32[2, 16, 5], "cell": float32[2, 16, 5]}'),
        ("Spectrogram", "(magnitude=float32[2, 101, 16], phase=float32[2, 101, 16])"),
        ("Flattened", "x=float32[2, 9, 64, 32, 32]"),
        ("Edges", "(h=float32[8, 32], coord=float32[8, 3], edges=int64[2, 12] < 8, edge_attr=float32[12, 4])"),
    ],
)
def test_an_error_leads_to_inputs(modules: object, name: str, shown: str) -> None:
    assert shown in target.find_call(modules, name, target.SearchBudget()).expression
