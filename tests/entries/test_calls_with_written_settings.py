"""A class is called besides with the optional arguments that its project passes, and with something where a parameter is None."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.test_entry_runs import run, write

from compile_lens.analysis.finding import Kind
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")
BLOCK = """\
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width=8, norm=None, inner: nn.Module = None, scale=None):
        super().__init__()
        self.line, self.norm, self.inner, self.scale = nn.Linear(width, width), norm, inner, scale

    def forward(self, x):
        x = self.line(x)
        if self.norm is not None:
            x = self.norm(x)
        if self.inner is not None:
            x = self.inner(x)
            print("inner")
        return x if self.scale is None else x * self.scale
"""
USE = """\
from torch import nn

from model import Block


class Loud(nn.Module):
    def forward(self, x):
        print("loud")
        return x * 2


def loud_block(width=8):
    return Block(width, norm=Loud())
"""


def test_what_the_project_passes_and_what_may_be_none_leads_to_other_code(tmp_path: Path, warm_host: WarmHost) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "use.py").write_text(USE)
    outcome = run(warm_host, write(tmp_path, BLOCK), root=tmp_path)
    found = {
        f.message.partition(", `")[0]: (f.code, f.place.line) for f in outcome.findings if f.kind is Kind.VARIATION
    }
    assert found["With `norm=use.Loud()`"] == ("would-break", 8)
    assert found["With `inner=torch.nn.Identity()`"] == ("would-break", 16)
    # a plain call has none of these breaks
    assert not any(f.kind is Kind.GRAPH_BREAK for f in outcome.findings)


BOUNDED = """\
import torch
from torch import nn


class Bounded(nn.Module):
    def __init__(self, scale=2.0, bounds=None):
        super().__init__()
        self.scale, self.bounds = scale, bounds

    def forward(self, x):
        if self.bounds is not None:
            low = x.min().item()
            high = x.max().item()
            assert low >= self.bounds[0] and high <= self.bounds[1]
        return x * self.scale
"""
INDENTED = """\
Layers
======

It refuses what is out of bounds:

    from model import Bounded
    layers = [Bounded(bounds=(0, 1))]
"""


def test_what_it_passes_may_demand_other_inputs(tmp_path: Path, warm_host: WarmHost) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "README.rst").write_text(INDENTED)
    outcome = run(warm_host, write(tmp_path, BOUNDED), root=tmp_path)
    found = {(f.message.partition(", `")[0], f.place.line) for f in outcome.findings if f.kind is Kind.VARIATION}
    assert {("With `bounds=(0, 1)`", 12), ("With `bounds=(0, 1)`", 13)} & found
    assert not any(f.kind in (Kind.GRAPH_BREAK, Kind.RUN_ERROR) for f in outcome.findings)
