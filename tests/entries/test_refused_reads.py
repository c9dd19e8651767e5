"""A configuration has the words that a constructor accepts, and the keys of what it unpacks, before it is known what else is read of it."""

from __future__ import annotations

from types import ModuleType

import pytest
from tests.entries.agent_package import agent_module, imported

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

target = agent_module("inputs.synthesis.target")

MODULES = """\
import copy

import torch
from torch import nn


class Dense(nn.Module):
    def __init__(self, in_width, out_width):
        super().__init__()
        self.layer = nn.Linear(in_width, out_width)

    def forward(self, x):
        return self.layer(x)


PARTS = {"dense": Dense}


def get_part(kind: str):
    if kind.lower() in PARTS:
        return PARTS[kind.lower()]
    else:
        raise ValueError(f"Unknown part: {kind}")


class Critic(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.alpha = config.alpha
        self.part = get_part(config.part.type)(**config.part.args)

    def forward(self, x):
        return self.part(x)


class Policy(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.scale = config.scale
        self.critic = Critic(config.critic)
        self.slow = copy.deepcopy(self.critic)
        self.last = nn.Linear(config.head.width, 3)

    def forward(self, x):
        return self.critic(x) * self.slow(x) * self.scale, self.last(self.last.weight)


class OtherPolicy(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.critic = Critic(config.critic)
        self.scale, self.head = config.scale, nn.Linear(config.head.width, 3)

    def forward(self, x):
        return self.critic(x)
"""


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return imported(tmp_path_factory.mktemp("refused") / "modules_of_refused_reads.py", MODULES)


def test_all_that_is_read_behind_a_refused_word_is_in_the_configuration(modules: ModuleType) -> None:
    found = str(target.find_call(modules, "Policy", target.SearchBudget()).expression)
    assert "part=types.SimpleNamespace(type='dense', args={\"in_width\": " in found
    assert "head=types.SimpleNamespace(width=" in found


def test_a_model_with_the_attributes_of_a_configuration_is_none(modules: ModuleType) -> None:
    construction = agent_module("inputs.synthesis.making.construction")
    guessed = agent_module("inputs.synthesis.guessing.first_arguments")
    problem = construction._Construction(modules, "Policy", modules.Policy)
    first = next(guessed.first_candidates(modules, modules.Policy, {}))
    assert not any("OtherPolicy" in each.text for each in problem.with_read_structure(first))
