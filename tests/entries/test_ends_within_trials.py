"""Trials that end the program, and thoughts about the next one that fail: neither ends the search, nor is it a reason of the user's."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
from tests.entries.agent_package import agent_module, imported

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

EXITS = """\
import argparse
import torch
from torch import nn


class Exact(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(24))

    def forward(self, x):
        if x.shape[-1] != 24:
            raise SystemExit(3)
        return x * self.scale


class Parsing(nn.Module):
    def __init__(self, path):
        super().__init__()
        argparse.ArgumentParser().parse_args(["--path", path])

    def forward(self, x):
        return x
"""
SHORT = """\
import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(5, 5)

    def forward(self, anything):
        return self.linear(anything[0].scale)
"""


def _found(module: ModuleType, name: str) -> str:
    target = agent_module("inputs.synthesis.target")
    return str(target.find_call(module, name, target.SearchBudget()).inputs)


def test_a_call_that_ends_the_program_leads_to_the_next_one(tmp_path: Path) -> None:
    assert _found(imported(tmp_path / "exits.py", EXITS), "Exact") == "x: float32[2, 16, 24]"


def test_a_constructor_that_parses_arguments_is_told_to_end_the_program(tmp_path: Path) -> None:
    module = imported(tmp_path / "exits_too.py", EXITS)
    timed_search, target = agent_module("inputs.timed_search"), agent_module("inputs.synthesis.target")
    found = timed_search.searched(lambda budget: target.find_call(module, "Parsing", budget), "Parsing", 20.0)
    assert found.reason == "its constructor failed: it ended the program with sys.exit(2)"


def test_where_thinking_of_another_call_fails_the_programs_own_failure_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = imported(tmp_path / "short.py", SHORT)
    search, target = agent_module("inputs.synthesis.trying.search"), agent_module("inputs.synthesis.target")

    def failing(*_: object) -> object:
        raise ZeroDivisionError("of ours")
        yield

    monkeypatch.setattr(search, "next_candidates", failing)
    with pytest.raises(search.NotFound, match="'scale'"):
        target.find_call(module, "Net", target.SearchBudget())
