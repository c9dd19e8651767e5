"""What a constructor builds later or constructs itself, spaces of which a shape is read, and inputs by the number that is told."""

from __future__ import annotations

import typing
from pathlib import Path

import pytest
from tests.entries.agent_package import agent_module, imported

from compile_lens.entries.call_grammar import written_call
from compile_lens.syntax.tree import parse

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

target = agent_module("inputs.synthesis.target")

MODULES = """\
import importlib
from dataclasses import dataclass

import torch
from torch import nn


class LazyPart:
    def __init__(self, target):
        self.target = target

    def __call__(self, **settings):
        return {"made": self.target, **settings}


def build(recorded, **more):
    settings = {**recorded, **more}
    return settings.pop("made")(**settings)


def instantiate(config, **more):
    if not isinstance(config, dict):
        raise TypeError(f"cannot instantiate a {type(config).__name__}")
    settings = {**config, **more}
    module, _, name = settings.pop("_target_").rpartition(".")
    return getattr(importlib.import_module(module), name)(**settings)


class Lazy(nn.Module):
    def __init__(self, width: int, depth: int, norm: LazyPart, block_config: LazyPart | None = None):
        super().__init__()
        assert block_config is not None, "block_config must be provided"
        self.layers = nn.Sequential(*(build(block_config, drop=0.0) for _ in range(depth)), nn.Linear(width, width))
        self.norm = build(norm)

    def forward(self, x):
        return self.norm(self.layers(x))


class Instantiated(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.encoder = instantiate(config.encoder, width=config.width)
        self.head = nn.Linear(config.width, 3)

    def forward(self, x):
        return self.head(self.encoder(x))


class Normed(nn.Module):
    def __init__(self, channels, norm, activation):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(channels, 32, 3), norm(32), activation(inplace=True))

    def forward(self, x):
        return self.layers(x)


class Policy(nn.Module):
    def __init__(self, observation_space, action_space, hidden=64):
        super().__init__()
        self.first = nn.Linear(observation_space.shape[0], hidden)
        self.second = nn.Linear(hidden, action_space.n)

    def forward(self, observations):
        return self.second(self.first(observations).relu())


@dataclass
class Stage:
    width: int


class Staged(nn.Module):
    def __init__(self, stages: list[Stage]):
        super().__init__()
        if len(stages) != 4:
            raise ValueError(f"Expected 4 stages, got {len(stages)}")
        self.layers = nn.Sequential(*(nn.Linear(stage.width, stage.width) for stage in stages))

    def forward(self, x):
        return self.layers(x)


class Unpacked(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def forward(self, *inputs):
        x, adjacency, mask = inputs
        return torch.bmm(adjacency, self.layer(x)) * mask[..., None]


class Counted(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.layer = nn.Linear(3 * width, width)

    def forward(self, *inputs):
        if len(inputs) != 3:
            raise ValueError(f"Expected 3 inputs, got {len(inputs)}")
        return self.layer(torch.cat(inputs, -1))
"""


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("Lazy", ["norm=LazyPart(torch.nn.Identity)()", "block_config=LazyPart(torch.nn.Identity)()"]),
        ("Instantiated", ['encoder={"_target_": "torch.nn.Identity"}']),
        ("Normed", ["norm=torch.nn.BatchNorm2d, activation=torch.nn.ReLU"]),
        ("Policy", ["observation_space=types.SimpleNamespace(shape=", "action_space=types.SimpleNamespace(n="]),
        ("Staged", [", ".join(["Stage(width=32)"] * 4)]),
        ("Unpacked", ["Unpacked()(float32[", ", bool["]),
        ("Counted", ["Counted()(float32[2, 16, 16], float32[2, 16, 16], float32[2, 16, 16])"]),
    ],
)
def test_what_is_built_and_counted_is_made_up(name: str, parts: list[str], tmp_path: Path) -> None:
    module = imported(tmp_path / "builders_and_spaces.py", MODULES)
    found = target.find_call(module, name, target.SearchBudget()).expression
    assert all(part in found for part in parts), found


def test_a_call_of_what_records_calls_may_be_written_into_a_file() -> None:
    tree = parse(MODULES)
    assert written_call(tree, "Lazy(width=64, depth=2, norm=LazyPart(torch.nn.Identity)())(x=float32[2, 64])")
    reaching = MODULES.replace('return {"made"', 'open("x", "w")\n        return {"made"')
    assert written_call(parse(reaching), "Lazy(width=64, norm=LazyPart(torch.nn.Identity)())(x=float32[2, 64])") is None
    assert written_call(tree, "Lazy(width=64, norm=LazyPart(torch.nn.Identity)('x'))(x=float32[2, 64])") is None
    assert written_call(tree, "Lazy(width=64, norm=build(torch.nn.Identity)())(x=float32[2, 64])") is None


def test_a_hint_of_no_class_names_none() -> None:
    concrete = agent_module("inputs.synthesis.project.concrete_classes")
    assert concrete.class_in(typing.Type) is None  # noqa: UP006
    assert concrete.class_in(typing.Union[typing.Type, str]) is None  # noqa: UP006, UP007


def test_a_failure_of_the_search_itself_is_no_reason_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trials, plans = agent_module("inputs.trials"), agent_module("runtime.entry_plans")
    arguments = agent_module("inputs.synthesis.terms.arguments")
    module = imported(tmp_path / "of_a_failing_search.py", MODULES)
    group = arguments.Arguments((("x", arguments.Group(())),))
    monkeypatch.setattr(trials, "find_call", lambda *_: group.with_argument("x/no_number", group))
    plan = plans.SynthesizedCalls((plans.CallTarget("Counted"),), seconds=5.0)
    told: list[typing.Any] = []
    trials.Trials(module, plan, str(module.__file__), MODULES).run(told.append)
    reasons = [each.reason for each in told if hasattr(each, "reason")]
    assert reasons == [agent_module("inputs.failed_search").OWN_FAILURE]
