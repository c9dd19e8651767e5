"""Dictionaries that a constructor unpacks have what the call inside takes; numbers agree with those that a condition compares them with."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
from tests.entries.agent_package import agent_module, imported

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

target = agent_module("inputs.synthesis.target")

MODULES = """\
import torch
from torch import nn


class Mixer(nn.Module):
    def __init__(self, *, dim, heads):
        super().__init__()
        self.layer = nn.MultiheadAttention(dim, heads, batch_first=True)

    def forward(self, x):
        return self.layer(x, x, x)[0]


class Stack(nn.Module):
    def __init__(self, depth, mixer_options: dict):
        super().__init__()
        self.layers = nn.Sequential(*(Mixer(**mixer_options) for _ in range(depth)))

    def forward(self, x):
        return self.layers(x)


class Optional(nn.Module):
    def __init__(self, mixer_options=None):
        super().__init__()
        self.layer = Mixer(**(mixer_options or {}))

    def forward(self, x):
        return self.layer(x)


class Nested(nn.Module):
    def __init__(self, settings):
        super().__init__()
        self.settings = settings
        self.layer = self._made()

    def _made(self):
        return nn.Sequential(Mixer(**self.settings["mixer"]), nn.Linear(self.settings["mixer"]["dim"], self.settings["out"]))

    def forward(self, x):
        return self.layer(x)


class Words(nn.Module):
    def __init__(self, vocabulary, dim=16):
        super().__init__()
        self.table = nn.Embedding(len(vocabulary), dim, padding_idx=vocabulary["<pad>"])

    def forward(self, ids):
        return self.table(ids)


class Core(nn.Module):
    def __init__(self, dim=8, decay=0.25):
        super().__init__()
        self.decay, self.layer = decay, nn.Linear(dim, dim)

    def forward(self, x):
        return self.layer(x)


class Shell(nn.Module):
    def __init__(self, core, output):
        super().__init__()
        if core.decay != output.decay:
            raise AssertionError(f"The core has decay = {core.decay}, and the output layer {output.decay}. They must be the same.")
        self.core, self.output = core, output

    def forward(self, x):
        return self.output(self.core(x))


class Checked(nn.Module):
    def __init__(self, decay: float):
        super().__init__()
        self.core, self.output = Core(decay=decay), Core()
        one, other = (getattr(part, "decay", None) for part in (self.core, self.output))
        if not self._agree(one, other):
            raise AssertionError(f"The core has decay = {one} and the output has decay = {other}. They must have the same value.")

    def _agree(self, one, other):
        return one == other

    def forward(self, x):
        return self.output(self.core(x))


class Network(nn.Module):
    def __init__(self, decay: float):
        super().__init__()
        self.shell = Shell(Core(decay=decay), Core())

    def forward(self, x):
        return self.shell(x)
"""


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    folder: Path = tmp_path_factory.mktemp("unpacked")
    return imported(folder / "unpacked_settings.py", MODULES)


@pytest.mark.parametrize(
    ("name", "making"),
    [
        ("Stack", 'Stack(depth=2, mixer_options={"dim": 64, "heads": 4})'),
        ("Optional", 'Optional(mixer_options={"dim": 64, "heads": 4})'),
        ("Nested", 'Nested(settings={"mixer": {"dim": 64, "heads": 4}, "out": 64})'),
        ("Words", 'Words(vocabulary={"<pad>": 0})'),
        ("Network", "Network(decay=0.25)"),
        ("Checked", "Checked(decay=0.25)"),
    ],
)
def test_the_constructor_call(modules: ModuleType, name: str, making: str) -> None:
    assert target.find_call(modules, name, target.SearchBudget()).making == making


def test_what_a_call_does_not_take_is_left_out_of_what_is_unpacked(modules: ModuleType) -> None:
    unpacked = agent_module("inputs.synthesis.changes.unpacked_settings")
    arguments = agent_module("inputs.synthesis.terms.arguments")
    candidates, dimensions = (agent_module(f"inputs.synthesis.terms.{each}") for each in ("candidate", "dimensions"))
    given = arguments.Fields((("width", arguments.Expression("4")),), is_dict=True)
    candidate = candidates.Candidate(arguments.Arguments((("mixer_options", given),)), dimensions.Unknowns())
    with pytest.raises(TypeError) as refused:
        modules.Optional(mixer_options={"width": 4})
    parameters = {"mixer_options"}.__contains__
    (found,) = unpacked.with_unpacked_settings(candidate, refused.value, parameters, lambda *_: given)
    assert found.text == "mixer_options={}"
    assert not list(unpacked.with_unpacked_settings(candidate, refused.value, lambda _: False, lambda *_: given))
