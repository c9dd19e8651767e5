"""A docstring that only constructs what is then compiled is no entry: it would compile nothing, after all that the file imports."""

from __future__ import annotations

import pytest

from compile_lens.entries.find import find_entries
from compile_lens.syntax.tree import parse

CLASS = '''\
import torch


class Net(torch.nn.Module):
    """A net.

    >>> {examples}
    """

    def __init__(self, width=8, net="a"):
        super().__init__()
        self.a = torch.nn.Linear(width, 4)

    def forward(self, x):
        return self.a(x)
'''


@pytest.mark.parametrize(
    ("examples", "is_entry"),
    [
        (["net = Net(8)"], False),
        (["net = Net(8)", 'other = Net(width=8, net="b")'], False),
        (["net = Net(8)", "y = net(torch.ones(2, 8))"], True),
        (["net = Net(8)", "net.forward(torch.ones(2, 8))"], True),
        (["net = Net(8)", "run(net)"], True),
        (["Net(8)(torch.ones(2, 8))"], True),
        (["net = Net(8)", "Net(8)(torch.ones(2, 8))"], True),
    ],
)
def test_whether_the_examples_call_what_they_make(examples: list[str], is_entry: bool) -> None:
    found = find_entries(parse(CLASS.format(examples="\n    >>> ".join(examples))))
    assert ("doctest:Net" in [entry.spec for entry in found]) is is_entry
