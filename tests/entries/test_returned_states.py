"""What a call returns for the next one is handed on, as a program does: hidden states, keys and values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.entries.agent_package import agent_module, imported

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

SOURCE = """\
import torch
from torch import nn


class Cached(nn.Module):
    def forward(self, x, cache=None, scale=None):
        keys, values = (x, x) if cache is None else (torch.cat([cache[0], x], 1), torch.cat([cache[1], x], 1))
        return torch.softmax(x @ keys.transpose(1, 2), -1) @ values, (keys, values)


class Cell(nn.Module):
    def forward(self, x, h):
        return torch.tanh(x + h)


class Two(nn.Module):
    def forward(self, x, state=None):
        h, c = (x, x) if state is None else state
        return x + h, h + c, c


class Named(nn.Module):
    def forward(self, x, past_key_values=None, use_cache=False):
        return {"logits": x, "past_key_values": x if past_key_values is None else past_key_values + x}


class Layer(nn.Module):
    def forward(self, hidden_states, encoder_hidden_states=None):
        return hidden_states, hidden_states
"""


def _shapes(value: Any) -> Any:
    return [_shapes(each) for each in value] if isinstance(value, tuple) else list(value.shape)


@pytest.mark.parametrize(
    ("name", "count", "handed_on"),
    [
        ("Cached", 1, {"cache": [[[2, 3, 4], [2, 3, 4]], [[2, 6, 4], [2, 6, 4]]]}),
        ("Cell", 2, {"h": [[2, 3, 4], [2, 3, 4]]}),
        ("Two", 1, {"state": [[[2, 3, 4], [2, 3, 4]], [[2, 3, 4], [2, 3, 4]]]}),
        ("Named", 1, {"past_key_values": [[2, 3, 4], [2, 3, 4]]}),
        ("Layer", 1, {}),
    ],
)
def test_each_state_from_the_call_before_twice(
    tmp_path: Path, name: str, count: int, handed_on: dict[str, list[Any]]
) -> None:
    module = imported(tmp_path / f"stateful_{name.lower()}.py", SOURCE)
    snapshots = agent_module("variations.call_snapshot")
    x = module.torch.randn(2, 3, 4)
    base, names = snapshots.take_snapshot((x,) * count, {}), snapshots.ArgumentNames(getattr(module, name)())
    found = list(agent_module("variations.returned_states").returned_states(base, names, frozenset()))
    accepted = {}
    for variation in found:
        values = [names.value(call, variation.choice.partition(" ")[2]) for call in variation.calls]
        accepted[variation.choice.partition(" ")[2]] = [_shapes(value) for value in values]
        assert variation.phrase == f"`{variation.choice.partition(' ')[2]}` from the call before"
    assert accepted == handed_on
    assert list(agent_module("variations.returned_states").returned_states(base, names, set(handed_on))) == []
