"""A model whose constructor raises is none that the script uses, nor are the parts that it had made by then."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.script_runs import project, run

from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")

NETS = """\
import torch


class Wide(torch.nn.Module):
    def __init__(self, width=4, scale=1.0):
        super().__init__()
        self.encoder = torch.nn.Sequential(torch.nn.Linear(width, 64), torch.nn.Linear(64, width))
        self.scale = scale * 2

    def forward(self, x):
        return self.encoder(x) * self.scale


class Refusing(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = torch.nn.Linear(4, 4)
        raise RuntimeError("needs a licence")


class Broken(torch.nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner.no_such_part

    def __getattr__(self, name):
        return getattr(self.inner, name)
"""
# what is left of it would be the largest model of the script
WHOLE = """\
import torch

from nets import Refusing

small = torch.nn.Linear(2, 2)
big = Refusing()
small(torch.ones(1, 2))
"""
PARTS = """\
from nets import Refusing

big = Refusing()
"""
WRAPPED = """\
import torch

from nets import Broken

net = torch.nn.Linear(3, 3)
wrapped = Broken(net)
wrapped(torch.ones(1, 3))
"""


ABSENT = """\
from nets import Wide

scale = float(open("/nowhere/scale.txt").read())
net = Wide(6, scale)
"""


@pytest.mark.parametrize(
    ("source", "target", "inputs"), [(WHOLE, "Linear", "2]"), (PARTS, "Linear", "4]"), (WRAPPED, "Linear", "3]")]
)
def test_what_is_whole_is_called(tmp_path: Path, warm_host: WarmHost, source: str, target: str, inputs: str) -> None:
    project(tmp_path, {"nets.py": NETS, "pyproject.toml": "", "train.py": source})
    outcome = run(warm_host, tmp_path / "train.py", "model")
    assert [call.target for call in outcome.calls] == [target], outcome.failure
    assert inputs in outcome.calls[0].inputs, outcome.calls[0]


def test_the_model_comes_before_its_parts(tmp_path: Path, warm_host: WarmHost) -> None:
    project(tmp_path, {"nets.py": NETS, "pyproject.toml": "", "train.py": ABSENT})
    outcome = run(warm_host, tmp_path / "train.py", "model")
    assert [call.target for call in outcome.calls] == ["Wide"], outcome.failure
    assert "width=6" in outcome.calls[0].making, outcome.calls[0]
