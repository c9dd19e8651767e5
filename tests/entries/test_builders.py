"""Functions that build a model of classes from elsewhere are called for it, and the model is compiled."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.test_entry_runs import run, write

from compile_lens.analysis.finding import Kind
from compile_lens.entries.targets import find_targets
from compile_lens.syntax.tree import parse
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")
PARTS = """\
import torch
from torch import nn


class Chain(nn.Module):
    def __init__(self, layers, loud):
        super().__init__()
        self.layers, self.loud = nn.Sequential(*layers), loud

    def forward(self, x):
        x = self.layers(x)
        if self.loud:
            print("loud")
        return x
"""
FILE = """\
import torch
from torch import nn

from parts import Chain, ChainNet


class Swap(nn.Module):
    def forward(self, x):
        return x.flip(-1)


def create_chain(width: int = 8, depth: int = 2) -> nn.Module:
    layers = [nn.Linear(width, width) for _ in range(depth)]
    return Chain([*layers, nn.Dropout(0.1)], loud=True)


def broken_chain() -> nn.Module:
    raise ValueError


{more}
"""
MORE = '''\
def chain_net(width=4):
    """By the name of what it returns.

    It is longer than others.
    """
    return ChainNet(width)


def row(width):
    return nn.Linear(width, width)


def swap() -> nn.Module:
    return Swap()


def _own() -> nn.Module:
    return Chain([], loud=False)


def saved() -> nn.Module:
    return ChainNet(open("weights"))


def inner() -> nn.Module:
    return Chain([], loud=False)


def outer():
    return inner()


def config():
    return Options(width=4)


def chain_of_swaps(width=4, depth=2, bias=True, slope=0.1) -> nn.Module:
    layers = []
    for _ in range(depth):
        layers.append(nn.Linear(width, width, bias=bias))
        layers.append(nn.LeakyReLU(slope))
        layers.append(Swap())
    return Chain(layers, loud=False)


def swaps():
    made = Swap()
    return made
'''


def names(text: str) -> list[str]:
    return [target.name for target in find_targets(parse(text)) if target.builds]


def test_a_function_that_says_that_it_returns_a_model_or_constructs_one_builds_it() -> None:
    assert names(FILE.format(more="")) == ["create_chain", "broken_chain"]
    # the longest come first; a class of the file may be a part of the model
    assert names(FILE.format(more=MORE)) == ["chain_of_swaps", "chain_net"]


def test_classes_of_the_file_are_called_themselves_and_what_reads_files_is_not() -> None:
    head = "import torch\nfrom torch import nn\n\n\nclass Swap(nn.Module):\n    def forward(self, x):\n        return x\n\n\n"
    assert (
        names(
            f"{head}def swap() -> nn.Module:\n    return Swap()\n\n\ndef saved() -> nn.Module:\n    return Net(open('x'))\n"
        )
        == []
    )


def test_the_model_is_compiled_and_one_that_is_not_built_is_left_out(tmp_path: Path, warm_host: WarmHost) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "parts.py").write_text(PARTS + "\n\nclass ChainNet(Chain):\n    pass\n")
    outcome = run(warm_host, write(tmp_path, FILE.format(more="")), root=tmp_path)
    assert [(call.target, call.text) for call in outcome.calls][1][0] == "create_chain"
    assert [f.place.line for f in outcome.findings if f.kind is Kind.GRAPH_BREAK] == [13]
    assert any("self.layers[2].training" in f.message for f in outcome.findings if f.kind is Kind.VARIATION)
    assert not any("broken_chain" in each for each in (outcome.failure or "", *outcome.notes))
