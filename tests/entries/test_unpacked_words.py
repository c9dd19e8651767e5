"""A word among what a program unpacks of an argument is one that the program lists."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.agent_package import expression_found

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

MODULES = """\
from typing import Dict, Tuple

import torch
from torch import nn

KINDS = ("discrete", "continuous")


def build(name: str, spec):
    kind, width = spec
    if kind not in KINDS:
        raise ValueError(f"Variable '{name}': unknown kind {kind!r}; expected one of {KINDS}.")
    return nn.Linear(width, width)


class Network(nn.Module):
    def __init__(self, variables: Dict[str, Tuple]):
        super().__init__()
        self.parts = nn.ModuleDict({name: build(name, spec) for name, spec in variables.items()})

    def forward(self, x):
        for part in self.parts.values():
            x = part(x)
        return x
"""


def test_the_first_of_two_that_are_unpacked_is_a_word_and_the_second_a_number(tmp_path: Path) -> None:
    found = expression_found(tmp_path / "modules_of_unpacked_words.py", MODULES, "Network")
    assert found.startswith("""Network(variables={"first": ('discrete', 64)})(x=""")
