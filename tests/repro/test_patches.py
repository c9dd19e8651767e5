"""What a program replaced in libraries is in its repros, however it did so."""

from __future__ import annotations

from pathlib import Path

import pytest
from repros import run_all, write_all

from compile_lens.repro.contract import ExitCode
from compile_lens.repro.selection import Selection
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("repros")  # one process that scripts are forked from

PROGRAM = """\
import functools

import torch

import patches_of_a_sibling

original = torch.nn.Linear.forward


def noisy(self, x):
    print("linear")
    return original(self, x)


def scaled(function):
    @functools.wraps(function)
    def call(*args):
        return function(*args) * 2

    return call


torch.nn.Linear.forward = noisy
torch.relu = scaled(torch.relu)
setattr(torch.Tensor, "thrice", lambda self: self * 3)
torch.Tensor.twice = property(lambda self: self + self)
patches_of_a_sibling.install()


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x):
        return torch.relu(self.linear(x)).thrice().twice.gated()


torch.compile(Net(), backend="eager")(torch.randn(2, 4))
"""
SIBLING = """\
import torch


def gated(self):
    return self * torch.sigmoid(self)


def install():
    torch.Tensor.gated = gated
"""
# nothing of the script is named by what is compiled
LIBRARY_ONLY = """\
import torch


def noisy(self, x):
    print("gelu")
    return x


torch.nn.GELU.forward = noisy
torch.compile(torch.nn.Sequential(torch.nn.GELU()), backend="eager")(torch.randn(2, 4))
"""


def test_patches_of_libraries_are_repeated(tmp_path: Path, warm_host: WarmHost) -> None:
    (tmp_path / "patches_of_a_sibling.py").write_text(SIBLING)
    files = []
    for name, text in (("patched", PROGRAM), ("library_only", LIBRARY_ONLY)):
        program = tmp_path / f"{name}.py"
        program.write_text(text)
        files.append((program, tmp_path / f"repro_{name}.py", Selection(), None))
    first, _ = write_all(warm_host, files)
    assert not [note for note in first.notes if note.startswith("Left out")]
    text = first.file.read_text()
    assert text.count("torch.nn.Linear.forward = noisy") == 1
    for line in (
        "torch.Tensor.thrice = ",
        "torch.Tensor.twice = property(",
        "torch.relu = call",
        "torch.Tensor.gated = gated",
    ):
        assert line in text
    # the folder of the sibling is not on the path of the repro
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    moved = [file.rename(elsewhere / file.name) for _, file, _, _ in files]
    assert "torch.nn.GELU.forward = noisy" in moved[1].read_text()
    ((code, said),) = run_all([(moved[0], "")], tmp_path / "cache")
    assert code == ExitCode.BAD, said
