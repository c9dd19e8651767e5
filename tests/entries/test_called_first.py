"""Methods that an error names, or that set what the failing line reads, are called first; batches are what their types and keys say."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import types
from types import ModuleType

import pytest
from tests.entries.agent_package import agent_module, imported

from compile_lens.entries.targets import find_targets
from compile_lens.syntax.tree import parse

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

target = agent_module("inputs.synthesis.target")

MODULES = """\
from typing import NamedTuple

import torch
from torch import nn


class Batch(NamedTuple):
    tokens: torch.Tensor
    mask: torch.Tensor


class Told(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self._ready = nn.Linear(8, 8), False

    def warm_up(self, statistics):
        self.center = statistics.mean()
        object.__setattr__(self, "_rea" + "dy", True)

    def forward(self, x):
        if not self.is_ready():
            raise RuntimeError("The model is not ready: call warm_up() first.")
        return self.layer(x - self.center)

    def is_ready(self):
        return self._ready


class Stateful(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.states = nn.Linear(8, 8), {}

    def begin(self, batch_size):
        self.states["h"] = torch.zeros(batch_size, 8)

    def forward(self, x):
        self.states["h"] = self.states["h"] + self.layer(x)
        return self.states["h"]


class OfTuple(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(20, 8)

    def forward(self, batch: Batch):
        return self.table(batch.tokens) * batch.mask.unsqueeze(-1)


class OfDictionaries(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Conv2d(3, 8, 3)

    def forward(self, samples):
        return torch.stack([self.layer(sample["image"]).mean((1, 2)) for sample in samples])


class OnGraph(nn.Module):
    def __init__(self, in_channels, edge_dim):
        super().__init__()
        self.nodes, self.weights = nn.Linear(in_channels, 8), nn.Linear(edge_dim, 8)

    def forward(self, x, edge_index, edge_attr, batch):
        states = self.nodes(x)
        source, target = edge_index
        messages = states[source] * self.weights(edge_attr)
        states = torch.zeros_like(states).index_add(0, target, messages)
        return states.new_zeros(int(batch.max()) + 1, 8).index_add(0, batch, states)


class OfGraphObject(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(12, 8)

    def forward(self, data):
        x, edge_index, batch = data.x, data.edge_index, data.batch
        states = self.layer(x)
        states = torch.zeros_like(states).index_add(0, edge_index[1], states[edge_index[0]])
        return torch.zeros(int(batch.max()) + 1, 8).index_add(0, batch, states)


class OnlyTrained(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Flatten(), nn.Linear(48, 10))

    def describe_all_of_it_at_length(self, text):
        return " ".join([text, text.upper(), text.lower(), text.title(), text.strip(), str(self.net), repr(self.net)])

    def training_step(self, batch, batch_idx):
        images, labels = batch
        return nn.functional.cross_entropy(self.net(images), labels)


class PassingOn(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = Named()

    def forward(self, x, **options):
        return self.net(x[:, 1:], **options)


class Named(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(6, 8)

    def forward(self, rows):
        return self.layer(rows)


def solved(product, right):
    found = torch.zeros_like(right)
    for _ in range(3):
        found = found + 0.1 * (right - product(found))
    return found


class Reshaped(nn.Module):
    def __init__(self, *sizes):
        super().__init__()
        if not sizes:
            raise ValueError("expected some sizes")
        self.sizes = sizes

    def forward(self, x):
        return x.view(x.shape[0], *self.sizes)


class OfIds(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = Looking()

    def forward(self, input_ids):
        return self.model(input_ids)


class Looking(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.table = nn.Linear(6, 8), nn.Parameter(torch.ones(300, 6))

    def forward(self, states):
        if states.dtype.is_floating_point:
            return self.layer(states)
        return self.layer(self.table[states])


class OfKinds(nn.Module):
    def __init__(self, base_measure: nn.Module):
        super().__init__()
        self.base_measure = base_measure

    def forward(self, logits):
        if isinstance(self.base_measure, nn.MSELoss):
            return self.base_measure(logits, torch.zeros_like(logits))
        raise ValueError("an unsupported kind")


class Matching(nn.Module):
    def forward(self, positive, negative):
        if positive.dim() != 1:
            raise TypeError(f"Shape doesn't match: {tuple(positive.shape)} != (*)")
        return positive[:, None] - negative


class Rounded(torch.autograd.Function):
    @staticmethod
    def forward(ctx, rows, dim, keepdim):
        return torch.round(rows).sum(dim, keepdim=keepdim)

    @staticmethod
    def backward(ctx, gradient):
        return gradient, None, None
"""


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    file = tmp_path_factory.mktemp("first") / "called_first.py"
    return imported(file, MODULES)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Told", "(m := Told(), m.warm_up(statistics=float32["),
        ("Stateful", "(m := Stateful(), m.begin(batch_size=2))[0](x=float32["),
        ("OfTuple", "OfTuple()(batch=Batch(tokens=int64[2, 16] < 8, mask=bool[2, 16]))"),
        ("OnGraph", "(x=float32[8, 16], edge_index=int64[2, 12] < 8, edge_attr=float32[12, 64], batch=int64[8] == 0)"),
        ("OfGraphObject", "(x=float32[8, 12], edge_index=int64[2, 12] < 8, batch=int64[8] == 0)"),
        ("OnlyTrained", "OnlyTrained().training_step(batch=(float32[2, 48], int64[2] < 2), batch_idx=0)"),
        ("PassingOn", "PassingOn()(x=float32[2, 16, 6])"),
        ("solved", "solved(product=lambda *args, **named: [*args, *named.values()][0], right=float32[2, 16, 16])"),
        ("Reshaped", "Reshaped(64)(x=float32[2, "),
        ("OfIds", "OfIds()(input_ids=int64[2, 16] < 100)"),
        ("OfKinds", "OfKinds(base_measure=torch.nn.modules.loss.MSELoss())(logits=float32["),
        ("Matching", "Matching()(positive=float32[2], negative=float32[2, "),
        ("Rounded.apply", "(lambda *inputs: Rounded.apply(*inputs))(float32[2, 16, 16], -1, False)"),
        ("OfDictionaries", '(samples=[{"image": float32[3, 32, 32]}, {"image": float32[3, 32, 32]}])'),
    ],
)
def test_what_comes_before_the_call_and_what_it_gets(modules: ModuleType, name: str, shown: str) -> None:
    assert shown in target.find_call(modules, name, target.SearchBudget()).expression


def test_models_that_are_only_trained_and_functions_with_a_gradient_are_targets() -> None:
    tree = parse(
        """\
import lightning.pytorch as pl
import torch


class Regressor(torch.nn.Module):
    def loss(self, x, y):
        return (x - y).sum()


class Trained(pl.LightningModule):
    def training_step(self, batch, batch_idx):
        return batch.sum()


class Rounded(torch.autograd.Function):
    @staticmethod
    def forward(ctx, rows):
        return torch.round(rows)
"""
    )
    assert [target.name for target in find_targets(tree)] == ["Trained", "Regressor", "Rounded.apply"]


def test_a_process_that_has_lost_its_gpu_for_copies_does_the_work_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    ahead = agent_module("inputs.calling.ahead")
    asked = types.SimpleNamespace(look_up=lambda: lambda: True)
    monkeypatch.setitem(sys.modules, "torch", importlib.import_module("torch"))
    monkeypatch.setattr(ahead.gpu_presence, "has_gpu", lambda: True)
    assert ahead.can_fork() is (sys.platform == "linux")
    monkeypatch.setattr(ahead.fork_check, "IS_IN_BAD_FORK", asked)
    assert not ahead.can_fork()
