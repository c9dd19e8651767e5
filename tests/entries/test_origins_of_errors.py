"""Inputs that are changed because what failed was computed of them: kinds, ranks and sizes, by what the error names and where it comes
from."""

from __future__ import annotations

from types import ModuleType

import pytest
from tests.entries.agent_package import agent_module, imported

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

target = agent_module("inputs.synthesis.target")
origins = agent_module("inputs.synthesis.errors.origins")
indexed_tables = agent_module("inputs.synthesis.errors.indexed_tables")
signatures = agent_module("inputs.synthesis.source.signatures")

MODULES = """\
import torch
from torch import nn


class Pairs(nn.Module):
    # three inputs of one list of tables, each looked up in a line of its own
    def __init__(self):
        super().__init__()
        self.tables = nn.ModuleList([nn.Embedding(12, 8), nn.Embedding(12, 8)])

    def forward(self, mid, near, far):
        total = 0
        for i in range(2):
            first = self.tables[i](mid[:, i])
            second = self.tables[i](near[:, i])
            third = self.tables[i](far[:, i])
            total = total + first.mean() + second.mean() + third.mean()
        return total


class Shuffled(nn.Module):
    # for rows of numbers, which the layer before it does not say
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(40, 40)
        self.register_buffer("order", torch.arange(39, -1, -1))

    def forward(self, x):
        x = self.layer(x)
        return x[:, self.order]


class Framed(nn.Module):
    # five dimensions, of both; the error comes up after other things are done with them
    def forward(self, estimate, wanted):
        one = torch.stack([self.scaled(each) for each in estimate])
        two = torch.stack([self.scaled(each) for each in wanted])
        b, t, h, w, c = one.shape
        return ((one - two) ** 2).reshape(b, t, h * w * c).mean()

    def scaled(self, x):
        low = x.min(dim=0, keepdim=True)[0].min(dim=1, keepdim=True)[0]
        return x - low.min(dim=2, keepdim=True)[0]


class FramedLoss(Framed):
    pass


class Heads(nn.Module):
    def forward(self, q, k, v):
        b, h, n, d = k.shape
        b, h, n, d = v.shape
        equation = "bhid,bhjd->bhij"
        scores = torch.einsum(equation, q, k)
        assert q.shape[-1] == v.shape[-1], "the sizes of heads differ"
        return scores.softmax(-1) @ v


class Merged(nn.Module):
    # plain integers, so that no condition on a size is seen
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(26, 8, 1)

    def forward(self, batch):
        frames = batch["frames"]
        b, c, t, h, w = map(int, frames.shape)
        return self.conv(frames.reshape(b, c * t, h, w))


class Flattened(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(60, 4)

    def forward(self, x):
        b, n, c = map(int, x.shape)
        return self.layer(x.reshape(b, -1)[:, ::2])


class Counted(nn.Module):
    def forward(self, signal, t, window):
        for _ in range(t):
            signal = signal + signal[..., :window].mean(-1, keepdim=True)
        return signal


class Nested(nn.Module):
    def forward(self, inputs):
        tokens, (rows, columns), (places, mask) = inputs
        return tokens + rows + columns, places * 2, mask
"""


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return imported(tmp_path_factory.mktemp("origins") / "inputs_by_origin.py", MODULES)


@pytest.mark.parametrize(
    ("name", "shown", "trials"),
    [
        ("Pairs", "(mid=int64[2, 16, 16] < 10, near=int64[2, 16, 16] < 10, far=int64[2, 16, 16] < 10)", 6),
        ("Shuffled", "(x=float32[2, 40])", 8),
        ("FramedLoss", "(estimate=float32[", 8),
        ("Merged", 'frames": float32[2, 2, 13, 32, 32]', 20),
        ("Flattened", "(x=float32[2, 4, 30])", 8),
        ("Counted", "t=2, window=7)", 4),
    ],
)
def test_a_call_is_found_within_few_trials(modules: ModuleType, name: str, shown: str, trials: int) -> None:
    found = target.find_call(modules, name, target.SearchBudget(trials=trials, seconds=60)).expression
    assert shown in found


def test_queries_get_the_shape_of_keys_and_values(modules: ModuleType) -> None:
    found = target.find_call(modules, "Heads", target.SearchBudget(trials=8, seconds=60)).expression
    shapes = {part.partition("]")[0] for part in found.split("float32[")[1:]}
    assert len(shapes) == 1, found


def test_parts_of_parts_are_tuples_of_tensors(modules: ModuleType) -> None:
    found = target.find_call(modules, "Nested", target.SearchBudget(trials=8, seconds=60)).expression
    inside = found.partition("inputs=")[2]
    assert inside.count("(") == 3 and inside.count("[") == 5, found


def failed(function, *arguments) -> BaseException:
    try:
        function(*arguments)
    except Exception as error:
        return error
    raise AssertionError("it has not failed")


def test_names_lead_to_arguments_through_assignments_and_calls(modules: ModuleType) -> None:
    import torch

    error = failed(modules.Framed(), torch.ones(2, 3, 3, 3), torch.ones(2, 5))
    found = origins.Origins(error)
    assert found.steps("wanted") < found.steps("estimate")
    assert found.steps("something") == origins.MOST_STEPS
    error = failed(modules.Pairs(), torch.zeros(2, 2).long(), torch.zeros(2, 2), torch.zeros(2, 2))
    found = origins.Origins(error)
    assert found.steps("near") == 0
    assert found.steps("near") < min(found.steps("mid"), found.steps("far"))
    assert not found.are_all_behind(["near", "far"])


def test_a_table_has_as_many_rows_as_its_whole_index_needs(modules: ModuleType) -> None:
    import torch

    error = failed(lambda: modules.Shuffled()(torch.ones(2, 16, 40)))
    assert indexed_tables.size_for_index(error, 16) == 40
    assert indexed_tables.has_dimension_too_many(error, 16)
    error = failed(lambda: torch.ones(4)[7])
    assert indexed_tables.size_for_index(error, 4) is None
    assert not indexed_tables.has_dimension_too_many(error, 4)


def test_what_counts_is_told_from_what_is_a_tensor(modules: ModuleType) -> None:
    infos = {info.name: info for info in signatures.read_parameters(modules.Counted.forward, skip_first=True)}
    assert [name for name, info in infos.items() if info.is_count] == ["t", "window"]
    others = signatures.read_parameters(modules.Merged.forward, skip_first=True)
    assert not any(info.is_count for info in others)
