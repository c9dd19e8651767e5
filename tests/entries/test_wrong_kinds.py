"""Arguments of a kind that the program cannot use: for a dictionary a list, for a list a number, for settings some that lack one."""

from __future__ import annotations

import pytest
from tests.entries.agent_package import expression_found

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

MODULES = """\
import math
from typing import Optional

import torch
from torch import nn


def rules(kind: str, labels: dict[int, str]):
    return [(i, i) for i, name in labels.items() if name[0] != "z" or kind == "all"]


class Tagger(nn.Module):
    def __init__(self, width, encoding, tags):
        super().__init__()
        self.rules = rules(encoding, tags)
        self.layer = nn.Linear(width, width)

    def forward(self, x):
        return self.layer(x)


class Forbidding(nn.Module):
    def __init__(self, forbidden: tuple, width: int):
        super().__init__()
        weight = torch.zeros(width, width)
        for row, columns in forbidden.items():
            weight[row, columns] = -1
        self.register_buffer("weight", weight)

    def forward(self, x):
        return x @ self.weight


class OfSet(nn.Module):
    def __init__(self, allowed):
        super().__init__()
        self.layer = nn.Linear(8, len(allowed.union({1, 7})))

    def forward(self, x):
        return self.layer(x)


class OfOneSize(nn.Module):
    def __init__(self, in_shape, width):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(int(in_shape), width))

    def forward(self, x):
        return x @ self.weight


class Activated(nn.Module):
    def __init__(self, width, activation):
        super().__init__()
        self.layer = nn.Linear(width, width)
        self.activation = activation

    def forward(self, x):
        return self.activation()(self.layer(x))


class Convolved(nn.Module):
    def __init__(self, shape):
        super().__init__()
        channels, height, width, depth = shape
        self.layer = nn.Conv3d(channels, 2, 3, padding=1)

    def forward(self, x):
        return self.layer(x)


class Members(nn.Module):
    def __init__(self, members: list[Convolved]):
        super().__init__()
        self.members = nn.ModuleList(members)

    def forward(self, x):
        return sum(member(x) for member in self.members)


class ReadLater(nn.Module):
    def __init__(self, params):
        super().__init__()
        self.p = params
        self.layer = nn.Linear(params.inner_dim, params.outer_dim)

    def forward(self, x):
        x = self.layer(x)
        if self.p.shape_of_gate == "steep":
            return x.sigmoid() * self.p.gain
        raise NotImplementedError


class Critic(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, 1)

    def forward(self, x):
        return self.layer(x)


class Critics(nn.Module):
    def __init__(self, *critics: Critic):
        super().__init__()
        assert len(critics) > 0
        self.critics = nn.ModuleList(critics)

    def forward(self, x):
        return [critic(x) for critic in self.critics]


class Agent(nn.Module):
    def __init__(self, critics: Critics):
        super().__init__()
        self.critics = critics

    def forward(self, x):
        return self.critics(x)[0]


class Relations(nn.Module):
    def __init__(self, kinds: list[tuple[str, str]], width: int):
        super().__init__()
        self.layers = nn.ModuleDict({"__".join(kind): nn.Linear(width, width) for kind in kinds})

    def forward(self, x):
        return sum(layer(x) for layer in self.layers.values())


class Levels(nn.Module):
    def __init__(self, width, levels):
        super().__init__()
        if not all(0 < level < 1 for level in levels):
            raise ValueError("levels are outside")
        self.layer = nn.Linear(width, len(levels))

    def forward(self, x):
        return self.layer(x)


class Tasks(nn.Module):
    def __init__(self, encoder, tasks):
        super().__init__()
        self.encoder, self.heads = encoder, nn.ModuleDict()
        for task in tasks:
            self.heads[task["name"]] = nn.Linear(encoder.hidden_size, task["num_labels"])

    def forward(self, x):
        return [head(self.encoder(x)) for head in self.heads.values()]


class Placed(nn.Module):
    def __init__(self, place, width):
        super().__init__()
        self.place = place + "/weights"
        self.layer = nn.Linear(width, width)

    def forward(self, x):
        return self.layer(x)


def norm_of(spec, width):
    spec = dict(spec)
    kind = spec.pop("type")
    if kind == "batch":
        return nn.BatchNorm1d(width, **spec)
    raise KeyError(f"Unrecognized type {kind}")


class Normed(nn.Module):
    def __init__(self, width, norm_spec):
        super().__init__()
        assert norm_spec is None or isinstance(norm_spec, dict)
        self.layer, self.norm = nn.Linear(width, width), norm_of(norm_spec, width)

    def forward(self, x):
        return self.norm(self.layer(x).transpose(1, 2))


class Resized(nn.Module):
    def __init__(self, width: Optional[int], factor: Optional[float], kind: str = "nearest"):
        super().__init__()
        self.width, self.factor, self.kind = width, factor, kind

    def forward(self, series):
        if self.width is not None and self.factor is not None:
            raise ValueError("only one of size or scale should be given")
        return nn.functional.interpolate(series, self.width, self.factor, self.kind)


class Either(nn.Module):
    def __init__(self, classes: int | None, names: list[str] | None):
        super().__init__()
        if classes is not None and names is not None:
            raise ValueError("give classes or names, but not both")
        self.layer = nn.Linear(8, classes or len(names))

    def forward(self, x):
        return self.layer(x)


class Combined(nn.Module):
    def __init__(self, *losses: nn.Module):
        super().__init__()
        self.losses = nn.ModuleList(losses)

    def forward(self, x, y):
        assert len(self.losses) > 0
        return sum(loss(x, y) for loss in self.losses)


class Filled(nn.Module):
    def __init__(self, width: int, length: int = 512):
        super().__init__()
        table = torch.zeros(length, width)
        for row in range(length):
            for column in range(width):
                table[row, column] = math.sin(row / 10000 ** (column / width))
        self.register_buffer("table", table)

    def forward(self, x):
        return x + self.table[: x.shape[1]]
"""


@pytest.mark.parametrize(
    "name, expected",
    [
        ("Tagger", "tags={0: 'word_1', 1: 'word_2'})("),
        ("Forbidding", "Forbidding(forbidden={0: 1, 1: 0}, width="),
        ("OfSet", "OfSet(allowed={0, 1})("),
        ("Activated", "activation=torch.nn.GELU)("),
        ("OfOneSize", "OfOneSize(in_shape=8, width="),
        ("Members", "Members(members=[Convolved("),
        ("ReadLater", "shape_of_gate='steep', gain="),
        ("Agent", "Agent(critics=Critics(Critic("),
        ("Relations", "Relations(kinds=[('word_1', 'word_2',), "),
        ("Levels", "levels=(0.5, 0.5))("),
        ("Tasks", '"name": '),
        ("Placed", "Placed(place='mean', width="),
        ("Normed", """norm_spec={"type": 'batch'})("""),
        ("Resized", "Resized(width=None, factor=1.0)("),
        ("Either", "Either(classes=None, names=["),
        ("Combined", "Combined(torch.nn.MSELoss())("),
        # its table takes many seconds on tensors without memory
        ("Filled", "Filled(width="),
    ],
)
def test_an_argument_becomes_what_the_program_can_use(name, expected, tmp_path):
    assert expected in expression_found(tmp_path / "of_kinds.py", MODULES, name)
