"""Calls in other ways come in the order in which they most often recompile, and optional arguments are given together, too."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.entries.agent_package import agent_module, imported

from compile_lens.agent.runtime.protocol import VariationRequest

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

snapshots = agent_module("variations.call_snapshot")
usual = agent_module("variations.usual_variations")
measure = agent_module("variations.measure")
watcher = agent_module("variations.watcher")

NETS = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x, mask=None, labels=None, causal: bool = False):
        return x


class Other(Net):
    pass


x, mask, labels = torch.ones(4, 6, 8), torch.ones(4, 6), torch.ones(4)
"""
EVAL = "the model in eval mode (`.eval()`)"


@pytest.fixture
def nets(tmp_path: Path) -> ModuleType:
    return imported(tmp_path / "nets_in_order.py", NETS)


def phrases(nets: ModuleType, offered: Iterable[tuple[str, str, Any]]) -> list[str]:
    net = nets.Net()
    names = snapshots.ArgumentNames(net)
    found = usual.usual_variations(snapshots.take_snapshot((nets.x,), {}), names, [net], offered)
    return list(dict.fromkeys(each.phrase for each in found))


def test_what_costs_every_model_the_same_comes_last(nets: ModuleType) -> None:
    assert phrases(nets, [("mask", "float32[4, 6]", nets.mask)]) == [
        EVAL,
        "`mask=float32[4, 6]`",
        "a batch of 5, then 6, instead of 4 (`x`)",
        "a length of 7, then 8, instead of 6 (`x`)",
        "a length of 12, then 18, instead of 6 (`x`)",
        "a length of 9, then 10, instead of 8 (`x`)",
        "a length of 16, then 24, instead of 8 (`x`)",
        "`causal=True` instead of `False`",
        "`x.requires_grad=True`",
        "`torch.no_grad()` around the call",
    ]


def test_several_optional_arguments_are_given_together_too(nets: ModuleType) -> None:
    offered = [("mask", "float32[4, 6]", nets.mask), ("labels", "int64[4]", nets.labels)]
    alone = ["`mask=float32[4, 6]`", "`labels=int64[4]`"]
    assert phrases(nets, offered)[1:4] == [*alone, " and ".join(alone)]


class Calls:
    """Which calls the notes of a run begin, by region."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.made: list[tuple[int, str]] = []
        monkeypatch.setattr(measure, "write_note", self._note)
        self.watcher = watcher.VariationWatcher(VariationRequest(usual=True, seconds=60.0), 120.0)

    def _note(self, _: str, note: dict[str, Any]) -> None:
        if note["what"] == "call":
            self.made.append((note["region"], note["phrase"]))

    def call(self, region: int, net: Any, x: Any, is_apart: bool = True) -> None:
        self.watcher.wrap(region, net, net)(x)
        self.watcher.after_call(None, tuple, tuple, is_apart)


def test_a_model_is_called_in_eval_mode_at_once_and_not_once_more(
    nets: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = Calls(monkeypatch)
    net = nets.Net()
    calls.call(0, net, nets.x)
    assert calls.made == [(0, EVAL)]
    assert net.training
    # what is compiled in one mode is not there to recompile for those that are called in the same process
    calls.call(1, nets.Other(), nets.x, is_apart=False)
    assert calls.made == [(0, EVAL)]
    calls.watcher.at_end()
    assert [made for made in calls.made if made[1] == EVAL] == [(0, EVAL), (1, EVAL)]


def test_what_a_loss_gets_needs_a_gradient_in_training_alone(nets: ModuleType) -> None:
    assert phrases(nets, ())[-1] == "`torch.no_grad()` around the call"
    assert "`x.requires_grad=True`" in phrases(nets, ())
    # a model that is trained has its own gradients
    net = nets.Net()
    net.part = nets.torch.nn.Linear(2, 2)
    names = snapshots.ArgumentNames(net)
    for is_trained in (True, False):
        net.part.requires_grad_(is_trained)
        found = usual.usual_variations(snapshots.take_snapshot((nets.x,), {}), names, [net])
        assert any("x.requires_grad" in each.phrase for each in found) is not is_trained
