"""A file of which nothing is called says why, and which call would help."""

from __future__ import annotations

import pytest

from compile_lens.pipeline.nothing_called import NOTHING_TO_CALL, why_nothing_was_called
from compile_lens.syntax.tree import parse

KEEPER = """\
import os

import torch


class Keeper:
    def __init__(self, folder, rate=0.1):
        self.folder = open(folder)

    def step(self, x, *, scale):
        return torch.relu(x) * scale

    def __call__(self, x: torch.Tensor):
        return x
"""


def why(text: str, is_explained: bool = False) -> str:
    return why_nothing_was_called(parse(text), is_explained)


def test_what_reaches_outside_is_named_with_a_call() -> None:
    said = why(KEEPER)
    assert said.startswith(
        "Nothing was called: `Keeper.step`, `Keeper.__call__` take tensors, but they or their classes use `open`, which"
    )
    assert said.endswith("Complete a call: `--entry 'Keeper(folder=...).step(x=..., scale=...)'`.")
    assert why(KEEPER, is_explained=True) == said


@pytest.mark.parametrize(
    ("text", "is_explained", "wanted"),
    [
        ("import torch\nclass Names:\n    first = 1\n", False, NOTHING_TO_CALL),
        ("import torch\nclass Names:\n    first = 1\n", True, ""),
        ("class Names:\n    first = 1\n", False, ""),
        ("import torch\nprint(torch.__version__)\n", False, ""),
        (KEEPER + "\n\ndef double(x: torch.Tensor):\n    return x * 2\n", False, ""),
    ],
)
def test_where_something_else_explains_it(text: str, is_explained: bool, wanted: str) -> None:
    assert why(text, is_explained) == wanted
