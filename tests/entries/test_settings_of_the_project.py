"""An argument of a constructor that is None by default is tried with what the project passes for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.agent_package import agent_module, imported

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

settings = agent_module("inputs.synthesis.making.other_settings")

BLOCK = """\
from torch import nn


class Block(nn.Module):
    def __init__(self, width, norm=None, weights=None, act=None, mask=None):
        super().__init__()
        self.layer, self.norm = nn.Linear(width, width), norm(width) if norm else None

    def forward(self, x):
        x = self.layer(x)
        return self.norm(x) if self.norm is not None else x
"""
TESTS = """\
from torch import nn
from block_of_settings import Block


def test_plain():
    assert Block(4, mask=None)


def test_with_norm():
    assert Block(8, norm=nn.BatchNorm1d, weights="of somebody")
"""


def test_an_optional_argument_is_what_a_call_in_the_project_passes(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_block.py").write_text(TESTS, encoding="utf-8")
    module = imported(tmp_path / "block_of_settings.py", BLOCK)
    found = {each.phrase: each.expression for each in settings.other_settings(module, "Block(width=8)(float32[2, 8])")}
    first = next(iter(found.items()))
    assert first == ("norm=torch.nn.BatchNorm1d", "Block(width=8, norm=torch.nn.BatchNorm1d)(float32[2, 8])")
    # nobody has the weights, and None is what it is already
    assert not any(phrase.startswith(("weights", "mask")) for phrase in found)
