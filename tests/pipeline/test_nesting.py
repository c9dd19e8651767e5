"""An expression that is nested deeper than calls may be costs nothing but what is in it."""

from __future__ import annotations

from pathlib import Path

import pytest

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
def test_what_else_is_in_the_file_is_analyzed(kind: str) -> None:
    found = choose("deep.py", f"{TRAIN}\n\ny = {DEEP[kind]}\n", None).entries
    assert found == choose("flat.py", f"{TRAIN}\n\ny = 1\n", None).entries


def test_a_file_that_is_nested_too_deep_costs_another_nothing(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    alone = choose(str(tmp_path / "train.py"), TRAIN, tmp_path).entries
    (tmp_path / "use.py").write_text(f"from train import Net\nnet = Net()\nnet({DEEP['calls']})\n")
    assert choose(str(tmp_path / "train.py"), TRAIN, tmp_path).entries == alone


def test_what_python_can_read_is_analyzed() -> None:
    assert choose("fine.py", f"{TRAIN}\n\ny = {'1 + ' * 150}1\n", None).entries
