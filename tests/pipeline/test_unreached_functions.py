"""An edit inside of a function that nothing can reach is none of the program."""

from __future__ import annotations

from pathlib import Path

import pytest

from compile_lens.pipeline.same_program import is_same_where_reached

PROGRAM = '''\
import torch
from helpers import scale


def unused(x, n=2):
    """Never called."""
    if n > 1:
        x = x * n
    return x - 1


@torch.compile
def step(x):
    return scale(x) + 1


def report(x):
    print(x)


if __name__ == "__main__":
    report(step(torch.ones(3)))
'''
HELPERS = "def scale(x):\n    return x * 2\n"


@pytest.fixture
def helpers(tmp_path: Path) -> Path:
    file = tmp_path / "helpers.py"
    file.write_text(HELPERS, encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return x - 1", "return x - 2"),
        ("        x = x * n\n", "        for _ in range(n):\n            x = x * n\n            print(x)\n"),
        ("    return x - 1\n", "    if x is None:\n        if n:\n            return 0\n"),
        ('    """Never called."""\n    if n > 1:', "    while n > 1:"),
    ],
)
def test_an_edit_that_the_program_cannot_reach(old: str, new: str, helpers: Path) -> None:
    assert old in PROGRAM
    assert is_same_where_reached(PROGRAM, PROGRAM.replace(old, new), [helpers])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),
        ("x) + 1", "x) + 2"),
        ("print(x)", "print(x, x)"),
        ("n=2", "n=3"),
        ("n=2", "n=print(2)"),
        ("return x - 1", "return x -"),
        ("return x - 1", "break"),
        ("return x - 1", "return torch.compile(x)"),
        ("    return x - 1\n", "    return x - 1\n\n\nunused(1)\n"),
        ("return x - 1", "return unused(x)"),
        ("def unused", "def other"),
        ("    report(step", "    globals()['unu' + 'sed'](step"),
        ("def unused", "@print\ndef unused"),
        ("import torch\n", "import torch, pytest\n"),
    ],
)
def test_an_edit_that_it_may_reach(old: str, new: str, helpers: Path) -> None:
    now = PROGRAM.replace(old, new) if old else PROGRAM
    assert not is_same_where_reached(PROGRAM, now, [helpers])


@pytest.mark.parametrize("text", ["import train\ntrain.unused(1)\n", "import sys\nsys.modules['__main__']\n"])
def test_a_module_that_reaches_back(text: str, helpers: Path) -> None:
    helpers.write_text(text + HELPERS, encoding="utf-8")
    assert not is_same_where_reached(PROGRAM, PROGRAM.replace("return x - 1", "return x - 2"), [helpers])
