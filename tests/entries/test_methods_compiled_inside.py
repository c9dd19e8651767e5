"""A module whose constructor compiles one of its own methods: the method is called by the name that Python stores it under, and the module
as its users call it."""

from __future__ import annotations

from pathlib import Path

import pytest
from agent_package import agent_module, imported

from compile_lens.entries.targets import find_targets
from compile_lens.syntax.tree import parse

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

SOFT = """\
import torch
from torch import nn


class _Soft(nn.Module):
    def __init__(self, compiled: bool = False):
        super().__init__()
        self.width = nn.Parameter(torch.ones(1))
        self.__run = torch.compile(self.__smooth) if compiled else self.__smooth

    @staticmethod
    def __smooth(x: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return (x + torch.sqrt(x * x + b)) / 2

    def forward(self, x):
        return self.__run(x, self.width)


class Other(nn.Module):
    def forward(self, x):
        return x.relu()
"""


def test_the_module_is_a_target_beside_its_method() -> None:
    assert [target.name for target in find_targets(parse(SOFT))] == ["_Soft.__smooth", "_Soft"]


def test_a_method_is_called_by_the_name_that_it_is_stored_under(tmp_path: Path) -> None:
    target = agent_module("inputs.synthesis.target")
    module = imported(tmp_path / "soft_module.py", SOFT)
    found = target.find_call(module, "_Soft.__smooth", target.SearchBudget())
    assert found.expression.startswith("_Soft._Soft__smooth(x=float32[")
