"""The examples of a project are in its README, in the pages of its documentation, and in its notebooks."""

from __future__ import annotations

import json
from pathlib import Path

from compile_lens.entries.entry import EntryKind
from compile_lens.pipeline.entry_choice import entries_of
from compile_lens.pipeline.workspace import documented_examples

NET = """\
import torch


class Net(torch.nn.Module):
    def __init__(self, widths):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(w, w) for w in widths)

    def forward(self, x):
        return sum(layer(x) for layer in self.layers)
"""
USE = ["import torch\n", "from net import Net\n", "net = Net([8, 8])\n", "net(torch.ones(2, 8))\n"]


def _notebook(*cells: list[str]) -> str:
    made = [{"cell_type": "code", "source": cell, "outputs": [], "metadata": {}} for cell in cells]
    return json.dumps({"cells": [{"cell_type": "markdown", "source": "Net([1])"}, *made], "nbformat": 4})


def _examples(root: Path) -> list[str]:
    (root / "net.py").write_text(NET)
    found = entries_of(str(root / "net.py"), NET, root)
    return [entry.spec for entry in found if entry.kind is EntryKind.EXAMPLE]


def test_a_notebook_is_one_program(tmp_path: Path) -> None:
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "demo.ipynb").write_text(_notebook(["%matplotlib inline\n", *USE[:2]], USE[2:]))
    assert _examples(tmp_path) == ["example:demo.ipynb"]
    (example,) = documented_examples(tmp_path)
    assert not example.tree.root.has_error and "net = Net([8, 8])" in example.tree.text
    assert "Net([1])" not in example.tree.text


def test_pages_of_both_kinds_and_one_folder_deeper(tmp_path: Path) -> None:
    (tmp_path / "docs" / "usage").mkdir(parents=True)
    block = "".join(f"   {line}" for line in USE)
    (tmp_path / "docs" / "usage" / "net.rst").write_text(f"Net\n===\n\n.. code-block:: python\n\n{block}\nEnd.\n")
    assert _examples(tmp_path) == ["example:net.rst"]


def test_what_is_no_notebook_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "broken.ipynb").write_text("{")
    (tmp_path / "deep.ipynb").write_text('{"cells": ' + "[" * 100_000)
    (tmp_path / "other.ipynb").write_text('{"cells": [{"cell_type": "code", "source": 3}]}')
    (tmp_path / "empty.ipynb").write_text("{}")
    assert _examples(tmp_path) == []
