"""What the solver learns from a failure: sizes that tensors share for their names, calls over several lines, what made no difference."""

from __future__ import annotations

import importlib
import linecache
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.entries.agent_package import agent_module

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

target = agent_module("inputs.synthesis.target")
shapes = agent_module("inputs.synthesis.source.shape_text")

HEAD = "import torch\nfrom torch import nn\n"
CELL = """
class Cell(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.inside = nn.Linear(input_size + hidden_size, hidden_size)

    def forward(self, input, hx, ts):
        return self.inside(torch.cat([input, hx], 1)) * ts
"""
INDEXED = """
class Chosen(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(7, 7)

    def forward(self, first: torch.Tensor, second: torch.Tensor, third: torch.Tensor):
        chosen = torch.index_select(
            first,
            0,
            third,
        )
        return self.linear(chosen) + self.linear(second).sum()
"""
OPEN_PART = """
class Decoder(nn.Module):
    def __init__(self, dim=64, embed_tokens=None):
        super().__init__()
        self.embed_tokens = embed_tokens
        self.linear = nn.Linear(dim, dim)

    def forward(self, tokens):
        return self.linear(self.embed_tokens(tokens))
"""
NAMED_SIZES = """
class Inside(nn.Module):
    def __init__(self, *, d_block, n_blocks):
        super().__init__()
        self.layers = nn.Sequential(*(nn.Linear(d_block, d_block) for _ in range(n_blocks)))

    def forward(self, x):
        return self.layers(x)

class Outside(nn.Module):
    def __init__(self, **named):
        super().__init__()
        self.inside = Inside(**named)

    def forward(self, x):
        return self.inside(x)
"""
SAME = """
class Same(nn.Module):
    def __init__(self, dim=48):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        assert x.shape[-1] == self.dim, f"feature dimension {x.shape[-1]} must be equal to dimension given at init {self.dim}"
        return x * 2
"""
ALIKE = """
class Loss(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 1)

    def forward(self, X, Y):
        if X.shape != Y.shape:
            raise ValueError(f"Images should have the same dimensions, but got {X.shape} and {Y.shape}.")
        if len(X.shape) != 4:
            raise ValueError(f"Images should be 4-d tensors, but got {X.shape}")
        return (self.conv(X) - self.conv(Y)).mean()
"""
PAIRS = """
class Block(nn.Module):
    def __init__(self, f, g):
        super().__init__()
        self.f, self.g = f, g

    def forward(self, x):
        return self.g(x + self.f(x))

class Sequence(nn.Module):
    def __init__(self, blocks):
        super().__init__()
        self.blocks = nn.ModuleList([Block(f=f, g=g) for f, g in blocks])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x
"""
CONSTANTS = """
BINARY_MODE: str = "binary"
OTHER_MODE: str = "other"

class Loss(nn.Module):
    def __init__(self, mode: str):
        assert mode in {BINARY_MODE, OTHER_MODE}
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x)
"""
DOUBLES = """
class Precise(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4).double()

    def forward(self, x):
        return self.linear(x)
"""


@pytest.fixture
def solved(tmp_path: Path) -> Callable[[str, str], Any]:
    """Finds a call of what a program defines, whose source can be read."""

    def find(source: str, name: str) -> Any:
        file = tmp_path / "solved.py"
        file.write_text(HEAD + source)
        module = ModuleType("solved")
        exec(compile(HEAD + source, str(file), "exec"), module.__dict__)
        linecache.checkcache()
        return target.find_call(module, name, target.SearchBudget(trials=60, seconds=60.0))

    return find


Solved = Callable[[str, str], Any]


def test_a_size_that_tensors_share_for_their_name_is_that_of_one_alone_where_no_value_suits_all(solved: Solved) -> None:
    sizes = re.findall(r"\[([\d, ]+)\]", solved(CELL, "Cell").inputs)
    assert sizes[0] == sizes[1] != sizes[2]


def test_what_a_call_takes_as_an_index_is_one(solved: Solved) -> None:
    assert "third: int64" in solved(INDEXED, "Chosen").inputs


def test_a_part_that_is_none_by_default_and_is_called_is_passed(solved: Solved) -> None:
    assert solved(OPEN_PART, "Decoder").making == "Decoder(embed_tokens=torch.nn.Embedding(256, 64))"


def test_names_that_say_size_are_sizes_and_no_layers(solved: Solved) -> None:
    assert solved(NAMED_SIZES, "Outside").making == "Outside(d_block=64, n_blocks=2)"


def test_a_size_in_the_words_of_an_assertion(solved: Solved) -> None:
    assert solved(SAME, "Same").inputs.endswith("48]")


def test_two_tensors_that_must_have_the_same_shape(solved: Solved) -> None:
    assert solved(ALIKE, "Loss").inputs == "X: float32[2, 3, 32, 32], Y: float32[2, 3, 32, 32]"


def test_sizes_that_are_made_together(solved: Solved) -> None:
    assert solved(TOGETHER, "Up").inputs == "x1: float32[2, 16, 32, 32], x2: float32[2, 8, 16, 16]"
    assert solved(TOGETHER, "Steps").inputs == "x: float32[2, 24, 6]"
    assert solved(TOGETHER, "Spectrum").inputs == "x: float32[2, 16, 128]"


def test_pairs_of_modules_where_pairs_of_numbers_are_called(solved: Solved) -> None:
    assert solved(PAIRS, "Sequence").making.count("torch.nn.Identity()") == 4


def test_a_word_that_is_a_constant_of_the_file(solved: Solved) -> None:
    assert solved(CONSTANTS, "Loss").making == "Loss(mode='binary')"


def test_doubles_for_a_module_of_doubles(solved: Solved) -> None:
    assert "float64[" in solved(DOUBLES, "Precise").inputs


TOGETHER = """
class Up(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.joined = nn.ConvTranspose2d(16, 8, 2, stride=2), nn.Conv2d(16, 4, 3)

    def forward(self, x1, x2):
        x1 = self.up(x1)
        more = [x2.size()[each] - x1.size()[each] for each in (3, 2)]
        x1 = nn.functional.pad(x1, [more[0] // 2, more[0] - more[0] // 2, more[1] // 2, more[1] - more[1] // 2])
        return self.joined(torch.cat([x2, x1], dim=1)) if x2.size()[3] > 1 else x1


class Steps(nn.Module):
    def __init__(self):
        super().__init__()
        self.states, self.last = nn.LSTM(6, 8, batch_first=True), nn.Linear(8 * 24, 2)

    def forward(self, x):
        zeros = torch.zeros(1, x.size(0), 8)
        return self.last(self.states(x, (zeros, zeros))[0].reshape(x.size(0), -1))


class Spectrum(nn.Module):
    def __init__(self):
        super().__init__()
        self.weights = nn.Parameter(torch.rand(16, 4, 64, dtype=torch.cfloat))

    def forward(self, x):
        return torch.einsum("bix,iox->box", torch.fft.rfft(x)[:, :, :64], self.weights)
"""


@pytest.mark.parametrize(
    ("text", "dims"),
    [
        ("Input tensor of shape Bx3xHxW. Values are from 0 to 1", ("B", "3", "H", "W")),
        ("atoms [n_bond]", ("n_bond",)),
    ],
)
def test_shapes_in_words(text: str, dims: tuple[str, ...]) -> None:
    assert shapes.written_shape(text) == dims


def test_the_configuration_class_of_a_file_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "beside_it"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "config.py").write_text(
        "class EncoderConfig:\n    def __init__(self):\n        self.encoder_width = 12\n\n\n"
        "class DecoderConfig:\n    def __init__(self, **named):\n        self.width = named.pop('width', 24)\n"
    )
    (package / "decoder.py").write_text(
        HEAD + "class Decoder(nn.Module):\n    def __init__(self, args):\n        super().__init__()\n"
        "        self.linear = nn.Linear(args.width, 4)\n\n    def forward(self, x):\n        return self.linear(x)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    __import__("beside_it.decoder")
    module = sys.modules["beside_it.decoder"]
    call = target.find_call(module, "Decoder", target.SearchBudget(trials=40, seconds=60.0))
    assert call.making.startswith("Decoder(args=beside_it.config.DecoderConfig(")


EXPONENTS = """\
import torch
from torch import nn


class Lookup(nn.Module):
    def __init__(self, inputs, n):
        super().__init__()
        self.layer, self.table = nn.Linear(inputs, 4), nn.Parameter(torch.rand(4, 2**n))

    def forward(self, x):
        return self.layer(x) @ self.table
"""


def test_a_number_that_is_an_exponent_becomes_smaller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "of_exponents.py").write_text(EXPONENTS)
    monkeypatch.syspath_prepend(str(tmp_path))
    found = target.find_call(importlib.import_module("of_exponents"), "Lookup", target.SearchBudget())
    assert "n=16)(x=float32[" in found.expression
