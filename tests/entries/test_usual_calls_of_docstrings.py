"""The examples of a docstring show one call of many: what they compile is called again as its users call it, and the rest of the file
is called, too."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.test_entry_runs import codes, run, write

from compile_lens.analysis.finding import Kind
from compile_lens.entries.find import find_entries
from compile_lens.syntax.tree import parse
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")
NETS = '''\
import torch
from torch import nn


class Part(nn.Module):
    """A part.

    >>> Part(8)(torch.ones(2, 8)).shape
    """

    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        return self.linear(x)


class Net(nn.Module):
    """A net.

    >>> net = Net(["a"], 8)
    >>> net(torch.ones(4, 8)).shape
    torch.Size([4, 8])
    """

    def __init__(self, names, width):
        super().__init__()
        if names != ["a"]:
            raise ValueError(names)
        self.part = Part(width)
        self.offset = None
        self.dropout = nn.Dropout(0.1)

    def forward(self, x, mask=None):
        if self.offset is None:
            self.offset = torch.zeros(x.shape[-1])
        x = self.part(x) + self.offset
        if mask is not None:
            x = x * mask.sum().item()
        return self.dropout(x)


class Other(nn.Module):
    def forward(self, x):
        print(x.shape)
        return x + 1
'''


def test_it_is_called_twice_in_both_modes_with_masks_and_the_rest_is_called_too(
    tmp_path: Path, warm_host: WarmHost
) -> None:
    outcome = run(warm_host, write(tmp_path, NETS))
    assert outcome.entry == "doctest:Net"
    messages = [f.message for f in outcome.findings if f.kind is Kind.VARIATION]
    assert any(m.startswith("With the same inputs again, `Net` would recompile") for m in messages), messages
    assert any("`.training`" in m or "eval" in m for m in messages), messages
    assert any("`mask=" in m and "break" in m for m in messages), messages
    # what the example leaves out of the file
    assert ("GB0059", 46) in codes(outcome)


def test_the_docstring_of_what_the_file_is_about_comes_first() -> None:
    found = [entry.spec for entry in find_entries(parse(NETS))]
    assert found[:2] == ["doctest:Net", "doctest:Part"]
