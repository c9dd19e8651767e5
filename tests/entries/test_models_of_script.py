"""A script that makes several models: each is called as the script does, those that are alike once, and what is left is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.script_runs import graph_breaks, project, run

from compile_lens.pipeline import entry_choice
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")


def test_a_second_model_that_the_script_makes_after_the_call_of_the_first(tmp_path: Path, warm_host: WarmHost) -> None:
    script = """\
import torch
from torch import nn

class Generator(nn.Module):
    def __init__(self, latent, channels=3):
        super().__init__()
        self.l = nn.Linear(latent, channels * 16)
        self.channels = channels

    def forward(self, x):
        return self.l(x).view(-1, self.channels, 4, 4)

class Discriminator(nn.Module):
    def __init__(self, channels, width=2):
        super().__init__()
        self.c = nn.Conv2d(channels, width, 3)

    def forward(self, x):
        y = self.c(x)
        if y.sum() > 0:  # the break
            y = y + 1
        return y.flatten(1)

g = Generator(10, 1)
image = g(torch.randn(2, 10))
d = Discriminator(1, width=4)
print(d(image).shape)
"""
    project(tmp_path, {"gan.py": script})
    outcome = run(warm_host, tmp_path / "gan.py")
    assert outcome.entry == "model"
    assert [(call.making, call.inputs) for call in outcome.calls] == [
        ("Generator from line 24", "float32[2, 10]"),
        ("Discriminator from line 26", "float32[2, 1, 4, 4]"),
    ]
    assert graph_breaks(outcome) == [("gan.py", 20)]


def test_later_batches_need_a_gradient_where_the_script_has_them_need_one(tmp_path: Path, warm_host: WarmHost) -> None:
    script = """\
import torch

net = torch.nn.Linear(8, 4)
if __name__ == "__main__":
    for _ in range(3):
        net(torch.randn(2, 8, requires_grad=True)).sum().backward()
"""
    project(tmp_path, {"run.py": script})
    outcome = run(warm_host, tmp_path / "run.py")
    assert outcome.entry == "model"
    assert [finding.message for finding in outcome.findings if finding.code == "recompile"] == []


THREE_MODELS = """\
import torch


class First(torch.nn.Module):
    def forward(self, x):
        return x * 2


class Second(torch.nn.Module):
    def forward(self, x):
        print("second")
        return x + 1


class Third(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x + 1
        return x - 1


if __name__ == "__main__":
    x = torch.randn(4, requires_grad=True)
    first, alike, second, third = First(), First(), Second(), Third()
    for _ in range(3):
        third(second(alike(first(x)))).sum().backward()
"""


def test_all_models_of_a_script_are_called_and_of_those_that_are_alike_one(tmp_path: Path, warm_host: WarmHost) -> None:
    project(tmp_path, {"run.py": THREE_MODELS})
    outcome = run(warm_host, tmp_path / "run.py")
    assert [call.target for call in outcome.calls] == ["First", "Second", "Third"]
    assert graph_breaks(outcome) == [("run.py", 11), ("run.py", 17)]
    assert not any(note.startswith("Not analyzed") for note in outcome.notes)


def test_what_no_time_is_left_for_is_told(tmp_path: Path, warm_host: WarmHost, monkeypatch: pytest.MonkeyPatch) -> None:
    project(tmp_path, {"run.py": THREE_MODELS})
    monkeypatch.setattr(entry_choice, "CLOCK_SHARE", 0.0)
    outcome = run(warm_host, tmp_path / "run.py", "model")
    assert [call.target for call in outcome.calls] == ["First"]
    assert {one.target for one in outcome.not_called} == {"Second", "Third"}
    (note,) = [note for note in outcome.notes if note.startswith("Not analyzed")]
    assert "`Second` (no time was left for it; a higher `run.timeout` gives more)" in note


PASSES_OBJECTS = """\
from typing import NamedTuple

import torch


class Diagram(NamedTuple):
    points: torch.Tensor
    dimension: int

    # no longer to be unpacked by mistake
    __iter__ = None


class Complex(torch.nn.Module):
    def forward(self, x):
        return [Diagram(x * 2, 0), Diagram(x * 3, 1)]


class Selected(torch.nn.Module):
    def __init__(self, dimension):
        super().__init__()
        self.dimension = dimension

    def forward(self, diagrams):
        print("selecting")
        return diagrams[self.dimension]


if __name__ == "__main__":
    x = torch.nn.Parameter(torch.rand(5, 2))
    network = Complex()
    for _ in range(3):
        Selected(1)(network(x)).points.sum().backward()
"""


def test_a_model_gets_the_objects_that_another_one_has_made(tmp_path: Path, warm_host: WarmHost) -> None:
    project(tmp_path, {"run.py": PASSES_OBJECTS})
    outcome = run(warm_host, tmp_path / "run.py", "model")
    assert [(call.target, call.inputs) for call in outcome.calls] == [
        ("Complex", "float32[5, 2]"),
        ("Selected", "list"),
    ]
    assert graph_breaks(outcome) == [("run.py", 25)]
    assert [f.message for f in outcome.findings if f.code == "recompile"] == []
    assert not any(note.startswith("Not analyzed") for note in outcome.notes)


TRAINED_WITH_A_LOSS = """\
import torch


class Scale(torch.nn.Module):
    def forward(self, x):
        print("scaling")
        return x / 2


class Hinge(torch.nn.Module):
    def forward(self, values, chosen):
        kept = values[chosen]
        return (1 - kept).relu().mean()


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 4)

    def forward(self, x):
        return self.layer(x).tanh()


if __name__ == "__main__":
    scale, net, hinge = Scale(), Net(), Hinge()
    for _ in range(3):
        x = scale(torch.randn(6, 8))
        hinge(net(x), torch.rand(6) > 0.5).backward()
"""


def test_a_loss_of_the_script_is_called_and_what_prepares_data_is_not(tmp_path: Path, warm_host: WarmHost) -> None:
    project(tmp_path, {"run.py": TRAINED_WITH_A_LOSS})
    outcome = run(warm_host, tmp_path / "run.py", "model")
    assert [call.target for call in outcome.calls] == ["Net", "Hinge"]
    assert graph_breaks(outcome) == [("run.py", 12)]
