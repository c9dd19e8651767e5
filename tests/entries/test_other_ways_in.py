"""Modules without ``forward`` have other ways in: each method that no other one uses is called as its users call it."""

from __future__ import annotations

from compile_lens.entries.targets import find_targets
from compile_lens.syntax.tree import parse

CODEC = """\
import torch
from torch import nn


class Codec(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.up = nn.Linear(dim, 4)
        self.down = nn.Linear(4, dim)

    def encode(self, x):
        return self._normed(self.up(x))

    def decode(self, z, scale):
        return self.rescaled(self.down(z), scale)

    def rescaled(self, x, scale):
        return torch.mul(x, scale)

    def _normed(self, x):
        return x / torch.linalg.norm(x)

    def save_to(self, x, path):
        torch.save(self.up(x), path)

    def exported(self, x):
        with open("exported", "wb") as file:
            torch.save(self.up(x), file)


class Loss(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(8, 8)

    def loss(self, x):
        return self.net(x).sum()


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(8, 8)

    def forward(self, x):
        return self.net(x)

    def encode(self, x):
        return self.net(x)

    def decode(self, x):
        return self.net(x)
"""


def test_the_methods_of_a_module_without_forward_are_called_each() -> None:
    names = [target.name for target in find_targets(parse(CODEC))]
    # of one way in, the class says it all; what has a `forward` is called by that
    assert names == ["Plain", "Codec", "Loss", "Codec.encode", "Codec.decode"]
    (target,) = [target for target in find_targets(parse(CODEC)) if target.name == "Codec.encode"]
    assert (target.only_plain, target.only_module) == (False, False)
    assert parse(CODEC).text.splitlines()[target.compile_line - 1].strip() == "def encode(self, x):"
