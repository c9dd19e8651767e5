"""A file of the workspace takes no more time than its length allows."""

from __future__ import annotations

import pytest

from compile_lens.entries import importers
from compile_lens.entries.importers import WorkspaceFile, find_importers
from compile_lens.entries.targets import find_targets
from compile_lens.syntax.tree import parse

MODEL = "import torch\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x\n"


class Counting:
    """In the place of the pattern that a whole text is searched for."""

    searches = 0

    def search(self, _: str) -> None:
        self.searches += 1


def test_a_file_of_many_tests_is_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    counting = Counting()
    monkeypatch.setattr(importers, "NAMES_COMPILER", counting)
    tests = "from net import Net\n" + "".join(f"def test_{n}():\n    Net()\n" for n in range(50))
    found = find_importers(
        "/w/net.py", "/w", [WorkspaceFile("/w/test_net.py", parse(tests))], find_targets(parse(MODEL))
    )
    assert len(found) == importers.MAX_TESTS
    assert counting.searches == 1
