"""Numbers of a constructor for which two sizes are equal are solved for, where a product, a quotient or a sum of them is compared."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.entries.agent_package import agent_module, imported

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

target = agent_module("inputs.synthesis.target")
candidates = agent_module("inputs.synthesis.terms.candidate")
arguments = agent_module("inputs.synthesis.terms.arguments")
dimensions = agent_module("inputs.synthesis.terms.dimensions")
solved_numbers = agent_module("inputs.synthesis.trying.solved_numbers")

MODULES = """\
import torch
from torch import nn


class Product(nn.Module):
    def __init__(self, rows, columns):
        super().__init__()
        self.first = nn.Linear(8, rows)
        self.columns = columns
        self.last = nn.Linear(6400, 3)

    def forward(self, x):
        return self.last((self.first(x).unsqueeze(-1) * torch.ones(self.columns)).flatten(-2))


class Quotient(nn.Module):
    def __init__(self, width, stride):
        super().__init__()
        self.first = nn.Linear(8, width)
        self.stride = stride
        self.last = nn.Linear(80, 3)

    def forward(self, x):
        return self.last(self.first(x)[..., :: self.stride + 1])


class Sum(nn.Module):
    def __init__(self, one, two):
        super().__init__()
        self.one = nn.Linear(8, one)
        self.two = nn.Linear(8, two)
        self.last = nn.Linear(200, 4)

    def forward(self, x):
        return self.last(torch.cat([self.one(x), self.two(x), x], -1))
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    yield imported(tmp_path_factory.mktemp("solved") / "numbers_that_are_solved_for.py", MODULES)
    sys.modules.pop("numbers_that_are_solved_for", None)


@pytest.mark.parametrize("name", ["Product", "Quotient", "Sum"])
def test_numbers_that_make_a_size_are_found(module: ModuleType, name: str) -> None:
    assert target.find_call(module, name, target.SearchBudget(60, 60)).making.startswith(name)


def solved(now: int, error: str, changed: str) -> list[int]:
    """The numbers for which the sizes of ``error`` are equal; ``changed`` is said where the number is another one."""
    unknowns = dimensions.Unknowns()
    unknowns.get("width", now)
    candidate = candidates.Candidate(arguments.Arguments(), unknowns)
    found = solved_numbers.with_solved_number(candidate, "width", RuntimeError(error), RuntimeError(changed))
    return [each.unknowns.values["width"] for each in found]


def said(got: int, want: int) -> str:
    return f"mat1 and mat2 shapes cannot be multiplied (2x{got} and {want}x8)"


@settings(max_examples=20, derandomize=True)
@given(st.integers(2, 8), st.integers(1, 60), st.integers(0, 40), st.integers(2, 60))
def test_sums_and_products_are_solved(now: int, factor: int, more: int, wanted: int) -> None:
    def sizes(number: int) -> str:
        return said(number * factor + more, wanted * factor + more)

    (unknown,) = [each for _, each in solved_numbers.with_one_changed(of_number(now))] if now != wanted else [None]
    if unknown is not None:
        assert wanted in solved(now, sizes(now), sizes(unknown.unknowns.values["width"]))


def of_number(number: int) -> object:
    unknowns = dimensions.Unknowns()
    unknowns.get("width", number)
    return candidates.Candidate(arguments.Arguments(), unknowns)


def test_squares_and_quotients_are_solved() -> None:
    assert solved(4, said(16, 64), said(64, 64)) == [8]
    assert solved(4, said(16, 64), said(8, 64)) == [1]


def test_another_error_tells_nothing_of_a_number() -> None:
    assert solved(4, said(16, 64), "index out of range") == []
    assert solved(4, said(16, 64), said(16, 64)) == []
