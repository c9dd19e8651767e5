"""What a program says in its own words: names without underscores, and types in docstrings."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.agent_package import expression_found

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

MODULES = '''\
import torch
from torch import nn


class Tree(nn.Module):
    def __init__(self, dataDimension, treeDepth):
        super().__init__()
        if treeDepth > 6:
            raise MemoryError("can't allocate memory")
        self.nodes = nn.Linear(dataDimension, 2**treeDepth - 1)

    def forward(self, x):
        return self.nodes(x)


class Stack(nn.Module):
    """Layers, one after the other.

    Args:
        *layers: int
            their widths
    """

    def __init__(self, *layers):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(i, o) for i, o in zip(layers[:-1], layers[1:]))
        self.last = nn.Linear(self.layers[-1].out_features, 1)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.last(x)


class BaseConfig:
    def __init__(self, hidden_size=64):
        self.hidden_size = hidden_size


class OwnConfig:
    def __init__(self, hidden_size=64, embedding_size=32):
        self.hidden_size, self.embedding_size = hidden_size, embedding_size


class Copied(nn.Module):
    """A model whose docstring was copied with its code.

    Args:
        config (BaseConfig): its sizes
    """

    config_class = OwnConfig

    def __init__(self, config):
        super().__init__()
        self.layer = nn.Linear(config.embedding_size, config.hidden_size)

    def forward(self, x):
        return self.layer(x)
'''


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("Tree", "Tree(dataDimension=64, treeDepth=2)(x=float32[2, 16, 64])"),
        ("Stack", "Stack(64, 64)(x=float32[2, 16, 64])"),
        ("Copied", "Copied(config=OwnConfig())(x=float32[2, 16, 32])"),
    ],
)
def test_the_words_of_a_program_lead_to_a_call(tmp_path: Path, name: str, call: str) -> None:
    assert expression_found(tmp_path / "words_of_programs.py", MODULES, name) == call
