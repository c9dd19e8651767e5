"""Arguments that are several tensors: as an annotation says, and where the items of a list are used as tensors."""

from __future__ import annotations

import pytest
from tests.entries.agent_package import agent_module, imported

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

target = agent_module("inputs.synthesis.target")
hint_kinds = agent_module("inputs.synthesis.source.hint_kinds")

MODULES = """\
from __future__ import annotations

import torch
from torch import Tensor, nn


class Operators(nn.Module):
    def __init__(self, operators: list[Tensor], scale: float):
        super().__init__()
        for index, operator in enumerate(operators):
            rows, columns = operator.shape
            self.register_buffer(f"operator_{index}", operator * scale)
        self.kind = operators[0].dtype

    def forward(self, state):
        return self.operator_0 @ state


class Untyped(nn.Module):
    def __init__(self, prototypes, n_steps):
        super().__init__()
        self.register_buffer("prototypes", torch.stack(list(prototypes)))
        self.layer = nn.Linear(prototypes[0].shape[-1], n_steps)

    def forward(self, x):
        return self.layer(x)


class Merged(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(5, 5)

    def forward(self, parts: tuple[Tensor, Tensor, Tensor]):
        if len(parts) != 3:
            raise ValueError("the number of parts is wrong")
        return self.layer(sum(parts))
"""


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> object:
    file = tmp_path_factory.mktemp("lists") / "lists_of_tensors.py"
    return imported(file, MODULES)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Operators", "Operators(operators=[float32[8, 64], float32[8, 64]], scale=1.0)(state=float32[2, 64, "),
        ("Untyped", "Untyped(prototypes=(float32[64], float32[64]), n_steps="),
    ],
)
def test_what_a_constructor_uses_as_tensors_gets_tensors(modules: object, name: str, shown: str) -> None:
    assert shown in target.find_call(modules, name, target.SearchBudget()).expression


def test_an_input_has_as_many_tensors_as_its_annotation(modules: object) -> None:
    assert target.find_call(modules, "Merged", target.SearchBudget()).expression.count("float32[") == 3


@pytest.mark.parametrize(
    ("hint", "count"),
    [
        (tuple[int, int, int], 3),
        (tuple[int, ...], 2),
        (tuple[int], 2),
        (list[int], 2),
        (tuple[int, int, int] | None, 3),
        (None, 2),
    ],
)
def test_how_many_items_a_hint_says(hint: object, count: int) -> None:
    assert hint_kinds.count_of_items(hint) == count
