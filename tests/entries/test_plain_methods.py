"""Methods of classes that are no modules and work with tensors are called with made-up inputs, or listed with the reason."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
from agent_package import agent_module

from compile_lens.analysis.coverage import EFFECTS
from compile_lens.analysis.finding import Severity
from compile_lens.analysis.outcome import Outcome
from compile_lens.entries.plain_methods import with_effects
from compile_lens.entries.targets import find_targets
from compile_lens.pipeline.entry_choice import choose
from compile_lens.syntax.tree import parse
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")

SPRINGS = """\
import json

import torch
from torch import nn
from torch.nn import functional as F


class Springs:
    def __init__(self, stiffness=10.0):
        self.stiffness = stiffness

    def energy(self, x):
        return self.stiffness * torch.sum(x**2, dim=-1)

    def force(self, positions):
        energy = self.energy(positions)
        return -torch.autograd.grad(energy.sum(), positions, create_graph=True)[0]

    def describe(self, name):
        return f"{name}: {self.stiffness}"

    def _damped(self, x):
        return torch.tanh(x)

    @property
    def scale(self):
        return torch.ones(1)
"""
TRAINER = """\


class Trainer:
    def __init__(self, model, lr=0.1):
        self.model = model
        self.optimizer = torch.optim.SGD([nn.Parameter(torch.ones(1)), *model.parameters()], lr=lr)

    def train_step(self, x, y):
        self.optimizer.zero_grad()
        loss = F.mse_loss(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        return loss
"""
EMBEDDER = """\


class Embedder:
    def __init__(self, width=8):
        self.net = nn.Sequential(nn.Linear(width, width), nn.ReLU())

    def get_vec(self, x):
        self.net.eval()
        return self.net(x)

    def write(self, x):
        with open("out.json", "w") as file:
            json.dump(self.net(x).tolist(), file)

    def write_twice(self, x):
        self.write(self.net(x))

    def refused(self, x):
        raise KeyError(f"no {torch.numel(x)} like this")
"""
OPS = """\


class Ops:
    @staticmethod
    def clipped(x, low=0.0):
        if x.max() > 1:
            x = x / x.max()
        return torch.clamp(x, min=low)

    @classmethod
    def doubled(cls, x: torch.Tensor) -> torch.Tensor:
        return x * 2
"""


def names(source: str) -> list[str]:
    return [target.name for target in find_targets(parse(source))]


def run(host: WarmHost, file: Path) -> Outcome:
    return host.run_choice(str(file), choose(str(file), file.read_text(), None, ""))


def test_methods_that_others_use_come_after_them() -> None:
    assert names(SPRINGS) == ["Springs.force", "Springs.energy"]


def test_methods_with_effects_are_none_also_where_they_use_one() -> None:
    assert names(SPRINGS + TRAINER + EMBEDDER + OPS) == [
        "Springs.force",
        "Trainer.train_step",
        "Embedder.get_vec",
        "Embedder.refused",
        "Ops.clipped",
        "Ops.doubled",
        "Springs.energy",
    ]
    assert [d.qualified_name for d in with_effects(parse(SPRINGS + EMBEDDER))] == [
        "Embedder.write_twice",
        "Embedder.write",
    ]


@pytest.mark.parametrize("base", ["nn.Module", "torch.utils.data.Dataset", "enum.Enum", "unittest.TestCase", "Net"])
def test_classes_that_others_call_back_and_modules_have_none(base: str) -> None:
    source = f"import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x\n\n\nclass Other({base}):\n"
    source += "    def apply_to(self, x):\n        return torch.relu(x)\n"
    assert not [name for name in names(source) if name == "Other.apply_to"]


def test_modules_and_functions_come_first() -> None:
    source = SPRINGS + "\n\nclass Net(nn.Module):\n    def forward(self, x):\n        return x\n\n\ndef twice(x):\n"
    assert names(source + "    return torch.add(x, x)\n")[:3] == ["Net", "twice", "Springs.force"]


def test_they_are_called_and_what_is_not_has_a_reason(tmp_path: Path, warm_host: WarmHost) -> None:
    file = tmp_path / "physics.py"
    file.write_text(SPRINGS + TRAINER + EMBEDDER + OPS)
    outcome = run(warm_host, file)
    assert outcome.entry == "synthesized"
    assert {call.target for call in outcome.calls} == {
        "Springs.force",
        "Trainer.train_step",
        "Embedder.get_vec",
        "Ops.clipped",
        "Ops.doubled",
    }
    breaks = {finding.place.line for finding in outcome.findings if finding.code.startswith("GB")}
    lines = file.read_text().splitlines()
    assert {lines[line - 1].strip() for line in breaks} >= {
        "return -torch.autograd.grad(energy.sum(), positions, create_graph=True)[0]",
        "loss.backward()",
        "if x.max() > 1:",
    }
    assert not [finding for finding in outcome.findings if finding.severity is Severity.ERROR]
    assert outcome.coverage is not None
    missing = {unit.name: unit.reason for unit in outcome.coverage.missing}
    assert missing == {
        "Embedder.write": EFFECTS,
        "Embedder.write_twice": EFFECTS,
        "Embedder.refused": missing["Embedder.refused"],
    }
    assert missing["Embedder.refused"].startswith("KeyError: ")
    assert "6 of 9 functions" in outcome.coverage.sentence


def test_what_is_differentiated_needs_a_gradient() -> None:
    target, search = agent_module("inputs.synthesis.target"), agent_module("inputs.synthesis.trying.search")
    module = ModuleType("springs")
    exec(SPRINGS, vars(module))
    found = target.find_call(module, "Springs.force", search.SearchBudget(20, 10.0))
    assert ".requires_grad_()" in found.expression
    assert found.evaluate(vars(module)).run().shape[0]
