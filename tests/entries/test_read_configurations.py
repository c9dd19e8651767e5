"""What a constructor reads of a configuration whose class nobody knows is learned from the constructor."""

from __future__ import annotations

import pytest
from tests.entries.agent_package import agent_module, imported

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

target = agent_module("inputs.synthesis.target")

MODULES = """\
import torch
from torch import nn


class Codec(nn.Module):
    def __init__(self, config):
        super().__init__()
        inner = config["model"]
        self.rate = config["data"]["sample_rate"]
        self.layers = nn.ModuleList([nn.Conv1d(inner["channels"], inner["channels"], k) for k in inner["kernel_sizes"]])
        self.frozen = inner.get("frozen", False)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Chosen(nn.Module):
    def __init__(self, args):
        super().__init__()
        if args.cell_type == "gru":
            self.cell = nn.GRU(args.hidden_size, args.hidden_size)
        elif args.cell_type == "lstm":
            self.cell = nn.LSTM(args.hidden_size, args.hidden_size)
        else:
            raise NotImplementedError(args.cell_type)
        self.first = nn.Linear(args.widths[0], args.widths[3])
        if args.use_bias and args.pretrained:
            raise OSError("no network")

    def forward(self, x):
        return self.cell(self.first(x))[0]


class Normed(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.norm = cfg.norm_layer(cfg.width)

    def forward(self, x):
        return self.norm(x)


class Extended(nn.Module):
    def __init__(self, args):
        super().__init__()
        args.levels = 2
        if "dropout" not in args:
            args.dropout = 0.1
        self.layers = nn.ModuleList([nn.Linear(args.width, args.width) for _ in range(args.levels)])

    def forward(self, x):
        return self.layers[0](x)


class Plain(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.layer = nn.Linear(args, args)

    def forward(self, x):
        return self.layer(x)
"""


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> object:
    file = tmp_path_factory.mktemp("read") / "read_configurations.py"
    return imported(file, MODULES)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Codec", 'config={"model": {"kernel_sizes": [3, 3], "channels": '),
        ("Codec", '"data": {"sample_rate": '),
        ("Chosen", "cell_type='gru'"),
        ("Chosen", "widths=["),
        ("Chosen", "use_bias=False"),
        ("Normed", "norm_layer=torch.nn.LayerNorm"),
        ("Extended", "Extended(args=argparse.Namespace(width="),
        ("Plain", "Plain(args=64)"),
    ],
)
def test_a_configuration_has_what_is_read_of_it(modules: object, name: str, shown: str) -> None:
    found = target.find_call(modules, name, target.SearchBudget())
    assert shown in found.expression
