"""Numbers of a constructor that a program refuses or computes nothing of, and what only flags and tables are used for."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

import pytest
from tests.entries.agent_package import agent_module

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

target = agent_module("inputs.synthesis.target")

MODULES = """\
import torch
from torch import nn

START, STOP = "<s>", "</s>"


class Upsampled(nn.Module):
    def __init__(self, width, scale):
        super().__init__()
        r = scale
        if r == 2 or r == 3:
            self.last = nn.Conv2d(width, width * r * r, 1)
        else:
            raise ValueError("unknown")
        self.shuffle = nn.PixelShuffle(r)

    def forward(self, x):
        return self.shuffle(self.last(x))


class Joined(nn.Module):
    def __init__(self, in_channels, out_channels, kernel, padding=0):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel, padding=padding)

    def forward(self, x):
        return torch.cat((x, self.conv(x)), 1)


class Listed(nn.Module):
    def __init__(self, order):
        super().__init__()
        self.table = nn.Parameter(torch.ones(table_size(order)))

    def forward(self, x):
        return x * self.table.sum()


def table_size(order):
    sizes = {4: 8, 6: 12}
    try:
        return sizes[order]
    except KeyError:
        raise ValueError("order must be 4 or 6")


class PowerOfTwo(nn.Module):
    def __init__(self, scale):
        super().__init__()
        assert (scale & (scale - 1)) == 0
        self.layer = nn.Linear(8, 8 * scale)

    def forward(self, x):
        return self.layer(x)


class LowRank(nn.Module):
    def __init__(self, n, p):
        super().__init__()
        self.table = nn.Parameter(torch.randn(n, p))

    def forward(self, x):
        return x @ self.table


class Frozen(nn.Module):
    def __init__(self, width, weights_may_change):
        super().__init__()
        self._may_change = weights_may_change
        self.layer = nn.Linear(width, width)
        self.layer.weight.requires_grad = weights_may_change

    def forward(self, x):
        return self.layer(x)


class Fold(nn.Module):
    def __init__(self, output_size):
        super().__init__()
        self._output_size = output_size

    def forward(self, x):
        return fold(x, self._output_size)


def fold(x, output_size):
    if not isinstance(output_size, tuple):
        raise ValueError(f"'output_size' must be tuple. Got {type(output_size)}.")
    return x.sum() * torch.ones(output_size)


class Loaded(nn.Module):
    def __init__(self, width, load):
        super().__init__()
        self.layer = nn.Linear(width, width)
        if load:
            raise KeyError("No address is known")

    def forward(self, x, keep_all):
        x = self.layer(x)
        return x if keep_all else x[:1]


class Unshuffled(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.PixelUnshuffle(2), nn.Conv2d(12, 4, 1))

    def forward(self, x):
        return self.stem(x)


class Windowed(nn.Module):
    def __init__(self, window_size, longest=300):
        super().__init__()
        self.count = window_size // longest
        self.layer = nn.Linear(self.count * 4, 4)

    def forward(self, x):
        return self.layer(x.reshape(-1, self.count * 4))


class Tagger(nn.Module):
    def __init__(self, tags):
        super().__init__()
        self._tags = tags
        self.start, self.stop = self._tags[START], self._tags[STOP]
        self.moves = nn.Parameter(torch.zeros(len(tags), len(tags)))
        nn.init.constant_(self.moves[self.start, :], -1.0)

    def forward(self, x):
        return x + self.moves.sum()
"""


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    folder = tmp_path_factory.mktemp("numbers")
    (folder / "refused_numbers_of_models.py").write_text(MODULES)
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module("refused_numbers_of_models")
    finally:
        sys.path.remove(str(folder))


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Upsampled", "scale=2)("),
        ("Joined", "kernel=1)("),
        ("Listed", "Listed(order=4)("),
        ("PowerOfTwo", "PowerOfTwo(scale=2)("),
        ("LowRank", "p=2)("),
        ("Frozen", "weights_may_change=True)("),
        ("Fold", "Fold(output_size=("),
        ("Loaded", "load=False)("),
        ("Loaded", "keep_all=False)"),
        ("Unshuffled", "x=float32[2, 3, "),
        ("Windowed", "Windowed(window_size="),
        ("Tagger", 'Tagger(tags={"<s>": 0, "</s>": '),
    ],
)
def test_what_is_passed(modules: ModuleType, name: str, shown: str) -> None:
    expression = target.find_call(modules, name, target.SearchBudget(trials=60, seconds=60)).expression
    assert shown in expression, expression


def test_a_graph_is_of_the_library_where_the_program_uses_what_only_those_have(monkeypatch: pytest.MonkeyPatch) -> None:
    structures = agent_module("inputs.synthesis.changes.structures")
    arguments = agent_module("inputs.synthesis.terms.arguments")
    candidate = agent_module("inputs.synthesis.terms.candidate").Candidate
    unknowns = agent_module("inputs.synthesis.terms.dimensions").Unknowns()
    edges = arguments.Tensor("int64", (unknowns.get("2", 2, fixed=True).name, unknowns.get("E", 12).name), below=8)
    data = arguments.Fields((("edge_index", edges),))
    given = candidate(arguments.Arguments((("data", data),)), unknowns)
    library = ModuleType("torch_geometric.data")
    library.Batch = library.Data = type("Data", (), {"clone": None})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch_geometric.data", library)

    def made_for(attribute: str) -> list[str]:
        error = AttributeError(f"'types.SimpleNamespace' object has no attribute '{attribute}'")
        return [each.text for each in structures.as_graphs(given, error)]

    assert made_for("clone") == ["data=torch_geometric.data.Batch(edge_index=int64[2, 12] < 8)"]
    assert made_for("smiles") == []
