"""A source that is nested deeper than Python's recursion limit gets one sentence, and costs no other file anything."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from compile_lens.documents.source_file import NestedTooDeep
from compile_lens.pipeline.entry_choice import choose

TRAIN = """
import torch

class Net(torch.nn.Module):
    def forward(self, x):
        return x + 1
"""
DEEP = {
    "operators": "1 + " * 3000 + "1",
    "parentheses": "(" * 3000 + "1" + ")" * 3000,
    "signs": "-" * 3000 + "1",
    "attributes": "x" + ".y" * 3000,
    "lists": "[" * 3000 + "]" * 3000,
    "calls": "f(" * 3000 + ")" * 3000,
}


@pytest.mark.parametrize("kind", DEEP)
def test_a_file_says_that_it_is_nested_too_deep(kind: str) -> None:
    with pytest.raises(NestedTooDeep) as told:
        choose("deep.py", f"{TRAIN}\n\ny = {DEEP[kind]}\n", None)
    sentence = str(told.value)
    assert sentence.startswith("deep.py is not analyzed: line 9 is nested "), sentence
    assert sentence.endswith(f" levels deep, and Python's recursion limit is {sys.getrecursionlimit():,}.")


def test_a_file_that_is_nested_too_deep_costs_another_nothing(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    alone = choose(str(tmp_path / "train.py"), TRAIN, tmp_path).entries
    (tmp_path / "use.py").write_text(f"from train import Net\nnet = Net()\nnet({DEEP['calls']})\n")
    assert choose(str(tmp_path / "train.py"), TRAIN, tmp_path).entries == alone


def test_what_python_can_read_is_analyzed() -> None:
    assert choose("fine.py", f"{TRAIN}\n\ny = {'1 + ' * 150}1\n", None).entries
