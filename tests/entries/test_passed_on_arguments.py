"""What a search knows of arguments that the called function does not declare itself, or that only its documentation describes."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest
from tests.entries.agent_package import agent_module

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

target = agent_module("inputs.synthesis.target")

MODULES = '''\
from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, List, Union

import numpy as np
import torch
from torch import nn

from .interfaces import Interface

if TYPE_CHECKING:
    from .encoders import Encoder


class Distribution:
    def __call__(self, count: int) -> torch.Tensor:
        raise NotImplementedError()


class Uniform(Distribution):
    def __call__(self, count: int) -> torch.Tensor:
        return torch.rand(count)


class Noisy(nn.Module):
    def __init__(self, net: nn.Module, *, distribution: Distribution, name: str):
        super().__init__()
        self.net, self.distribution, self.name = net, distribution, name.upper()

    def forward(self, x):
        return self.net(x + self.distribution(1))


class AnyNoise(nn.Module):
    def __init__(self, net: nn.Module, **more):
        super().__init__()
        for kind in [Noisy]:
            self.inner = kind(net=net, **more)

    def forward(self, x):
        return self.inner(x)


@dataclass
class Feature:
    name: str
    values: np.ndarray


@dataclass
class Flag:
    name: str


class Calibrated(nn.Module):
    def __init__(self, features: List[Union[Feature, Flag]]):
        super().__init__()
        for each in features:
            if not isinstance(each, (Feature, Flag)):
                raise ValueError(f"unknown feature {each}")
        self.keys = torch.tensor(np.stack([each.values for each in features]))

    def forward(self, x):
        return x * self.keys.sum()


@dataclass
class TaggerArguments:
    kind: str
    width: int


class Tagger(nn.Module):
    def __init__(self, args: TaggerArguments):
        super().__init__()
        if args.kind == "gru":
            self.layer = nn.GRU(args.width, args.width)
        elif args.kind == "lstm":
            self.layer = nn.LSTM(args.width, args.width)

    def forward(self, x):
        return self.layer(x)[0]


class Pooled(nn.Module):
    def __init__(self, inputSize: int):
        super().__init__()
        self.inputSize = inputSize
        self.layer = nn.Linear(2 * inputSize, 1)

    def forward(self, state: torch.Tensor, sequence: torch.Tensor):
        """
        :param state: As in https://example.org: any vector.

            See also
            https://example.org/of-the-same
            Size BATCH x self.inputSize
        :param sequence: The elements. Size BATCH x SIZE OF SEQUENCE x self.inputSize
        """
        expanded = state.unsqueeze(1).expand(state.shape[0], sequence.shape[1], state.shape[1])
        return self.layer(torch.cat((expanded, sequence), dim=2))


class Expanded(nn.Module):
    def forward(self, vector, sequence):
        return vector.unsqueeze(1).expand(vector.shape[0], sequence.shape[1], vector.shape[1]) + sequence


class Summed(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = ["only"]

    def forward(self, predictions, *targets):
        assert len(targets) == len(self.parts)
        return (predictions - targets[0]).sum()


class Solver:
    def __init__(self, model: nn.Module):
        self.model = model

    def forward(self, x):
        return self.model(x)


class Lattice(nn.Module):
    def __init__(self, cell: torch.Tensor):
        super().__init__()
        if cell.shape != (3, 3):
            raise ValueError(f"`cell` must be a tensor with shape [3, 3], got tensor with shape {list(cell.shape)}")
        self.cell = cell

    def forward(self, positions):
        if positions.dim() != 2 or positions.shape[1] != 3:
            raise ValueError("positions must have the shape (n_atoms, 3)")
        return positions @ self.cell


class Guided(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, x, words: list[str] | None = None, embeds: torch.Tensor | None = None):
        assert (words is not None) ^ (embeds is not None)
        return self.layer(x) + (0 if embeds is None else embeds.sum())


class Layered(nn.Module):
    def __init__(self, width: int, cfg: List[dict]):
        super().__init__()
        self.layers = nn.ModuleList()
        for each in cfg:
            self.layers.append(nn.Conv1d(width, each["filters"], each["kernel"][0]))
            width = each["filters"]

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Flattened(nn.Module):
    def __init__(self, target_shapes):
        super().__init__()
        self.shapes = target_shapes
        self.layer = nn.Linear(8, sum(int(np.prod(each)) for each in target_shapes))

    def forward(self, x):
        parts = self.layer(x).split([int(np.prod(each)) for each in self.shapes], -1)
        return [part.view(-1, *each) for part, each in zip(parts, self.shapes)]


class Unet(nn.Module):
    def __init__(self, channels: int, factors: List[int], blocks: List[int], multipliers: List[int]):
        super().__init__()
        layers = len(multipliers) - 1
        assert len(factors) == layers and len(blocks) == layers and len(multipliers) >= 2
        self.layer = nn.Conv1d(channels, 8, 3)

    def forward(self, x):
        return self.layer(x)


class NamedUnet(Unet):
    def __init__(self, name: str, *args, **kwargs):
        super().__init__(*args, channels=3, **kwargs)
        self.name = name


class Perturbed(Interface):
    def __init__(self, net):
        super().__init__()
        assert isinstance(net, Interface)
        self.net = net

    def forward(self, x):
        return self.net(x) + torch.randn(1)


class Keyed(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(100, 8)

    def forward(self, inputs: dict[str, torch.Tensor]):
        if "input_ids" not in inputs:
            raise ValueError("You must specify input_ids")
        return self.table(inputs["input_ids"])


class Encoded(nn.Module):
    def __init__(self, encoder: Encoder):
        super().__init__()
        self.encoder, self.last = encoder, nn.Linear(encoder.hidden_size(), 2)

    def forward(self, x):
        return self.last(self.encoder(x))
'''
ENCODERS = """\
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 24)

    def hidden_size(self):
        return 24

    def forward(self, x):
        return self.layer(x)
"""


INTERFACES = """\
from torch import nn


class Interface(nn.Module):
    def forward(self, x):
        raise NotImplementedError
"""
CONCRETE = """\
from torch import nn

from .interfaces import Interface


class Plain(Interface):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def forward(self, x):
        return self.layer(x)
"""


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    package = tmp_path_factory.mktemp("passed_on") / "passed_on"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "models.py").write_text(MODULES)
    (package / "encoders.py").write_text(ENCODERS)
    (package / "interfaces.py").write_text(INTERFACES)
    (package / "concrete.py").write_text(CONCRETE)
    sys.path.insert(0, str(package.parent))
    try:
        return importlib.import_module("passed_on.models")
    finally:
        sys.path.remove(str(package.parent))


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("AnyNoise", "distribution=Uniform(), name='"),
        ("Calibrated", "features=[Feature(name='"),
        ("Tagger", "kind='gru'"),
        ("Pooled", "Pooled(inputSize=32)(state=float32[2, 32], sequence=float32[2, 16, 32])"),
        ("Expanded", "vector=float32["),
        ("Summed", "Summed()(float32["),
        ("Solver", "Solver(model="),
        ("Lattice", "Lattice(cell=float32[3, 3])(positions=float32["),
        ("Guided", "words="),
        ("Layered", 'cfg=[{"filters": '),
        ("Flattened", "target_shapes=[[8, 4], [8]])(x=float32["),
        ("Unet", "factors=["),
        ("NamedUnet", "factors=["),
        ("Perturbed", "net=passed_on.concrete.Plain(width="),
        ("Keyed", 'inputs={"input_ids": int64['),
        ("Encoded", "Encoded(encoder=passed_on.encoders.Encoder())(x=float32["),
    ],
)
def test_what_is_passed(modules: ModuleType, name: str, shown: str) -> None:
    assert shown in target.find_call(modules, name, target.SearchBudget()).expression


def test_sizes_by_the_names_of_dimensions() -> None:
    known = {"hiddensize": 24, "C": 3}
    size_of = agent_module("inputs.synthesis.source.named_sizes").size_of
    assert size_of("hidden_size", known) == 24
    assert size_of("2*self.hiddenSize + 1", known) == 49
    assert size_of("C", known) == 3
    for unknown in ("c", "batch", "", "16", "hidden_size ** 9", "hidden_size.real", "hidden_size * batch"):
        assert size_of(unknown, known) is None


FAILING = """\
import torch
from torch import nn


class Fussy(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(24, 8)

    def forward(self, x, lookup):
        x = self.layer(x)
        if x.shape[0] != 2:
            raise ValueError("two rows, please")
        return lookup.find("everything").of(x)
"""


def test_the_call_that_came_furthest_is_offered_with_its_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "fussy_models.py").write_text(FAILING)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(target.NotFound) as failed:
        target.find_call(importlib.import_module("fussy_models"), "Fussy", target.SearchBudget())
    assert "find" in str(failed.value) or "of" in str(failed.value)
    assert "24]" in failed.value.draft, "the call that is offered passes the layer"


LOOPS = """\
def walk(x, after=0):
    for index in range(2):
        x.first(index)
        x.second(index)
    if after:
        x.third()
    x.last()
"""


class _Fails:
    def __init__(self, *where: object) -> None:
        self._where = where

    def __getattr__(self, name: str) -> object:
        def call(*arguments: object) -> None:
            if self._where == (name, *arguments):
                raise ValueError(name)

        return call


@pytest.mark.parametrize(
    ("one", "other", "is_before"),
    [
        (("last",), ("third",), False),
        (("third",), ("last",), True),
        (("second", 0), ("first", 1), False),  # in a loop, a line says nothing
        (("first", 1), ("second", 0), False),
        (("first", 0), ("last",), True),
        (("last",), ("last",), False),
    ],
)
def test_which_of_two_calls_came_further(one: tuple[object, ...], other: tuple[object, ...], is_before: bool) -> None:
    progress = agent_module("inputs.synthesis.trying.progress")
    names: dict[str, object] = {}
    exec(compile(LOOPS, __file__, "exec"), names)
    steps = []
    for where in (one, other):
        try:
            names["walk"](_Fails(*where), after=1)  # type: ignore[operator]
        except ValueError as error:
            steps.append(progress.steps_to(error))
    assert progress.ends_before(*steps) is is_before
