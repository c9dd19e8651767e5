"""Numbers that a program sets anew from step to step are varied, also where the call leaves them out; limits and other defaults are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.agent_package import agent_module, imported

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

SOURCE = """\
import torch
from torch import nn


class Scheduled(nn.Module):
    def forward(self, x, tau=1.0, step: int = 0, max_step=10, eps=1e-5, length=4):
        return x / tau + step
"""


@pytest.mark.parametrize(
    ("passed", "phrases"),
    [
        ({}, ["`tau=0.5, then 0.25` instead of `1.0`", "`step=1, then 2` instead of `0`"]),
        ({"tau": 0.8}, ["`tau=0.4, then 0.2` instead of `0.8`", "`step=1, then 2` instead of `0`"]),
        ({"eps": 0.1, "length": 3}, ["`length=4, then 5` instead of `3`", "`tau=0.5, then 0.25` instead of `1.0`"]),
    ],
)
def test_which_numbers_are_varied(tmp_path: Path, passed: dict[str, float], phrases: list[str]) -> None:
    module = imported(tmp_path / "scheduled.py", SOURCE)
    snapshots = agent_module("variations.call_snapshot")
    scheduled = module.Scheduled()
    base, names = snapshots.take_snapshot((module.torch.randn(4),), passed), snapshots.ArgumentNames(scheduled)
    usual = agent_module("variations.usual_variations").usual_variations(base, names, [scheduled])
    assert [each.phrase for each in usual if each.kind == "value"] == phrases
