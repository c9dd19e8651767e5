"""Models that need a library which is not here are analyzed up to there, and nothing is said of the place itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.test_entry_runs import write

from compile_lens.analysis.finding import Kind
from compile_lens.analysis.outcome import Outcome
from compile_lens.pipeline.entry_choice import choose
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")

MODELS = """\
import torch
from torch import nn
import absent_kernels
from absent_ops import scan


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(16, 16)
        self.op = absent_kernels.Scan(16)


class Branches(Base):
    def forward(self, x):
        y = torch.relu(self.linear(x))
        if y.sum() > 3:
            y = y + 1
        z = scan(y, x)
        return self.linear(z)


class Loops(Base):
    def forward(self, x):
        y = self.linear(x)
        for _ in range(2):
            y = self.op(y)
        return y


class Tries(Base):
    def forward(self, x):
        y = self.linear(x)
        try:
            return scan(y) + 1
        finally:
            y = y + 1


class Adds(Base):
    def forward(self, x):
        from absent_late.functions import late

        return self.linear(x) + absent_kernels.SIZE


class Begins(Base):
    def forward(self, x):
        return self.linear(self.op(x))
"""


def _synthesized(host: WarmHost, tmp_path: Path) -> Outcome:
    file = str(write(tmp_path, MODELS))
    return host.run_choice(file, choose(file, MODELS, None, ""))


def test_what_stands_before_is_analyzed(warm_host: WarmHost, tmp_path: Path) -> None:
    outcome = _synthesized(warm_host, tmp_path)
    called = {call.target: call.inputs for call in outcome.calls}
    absent = "(ModuleNotFoundError: No module named '{}')"
    assert called == {
        "Branches": f"x: float32[2, 16, 16], up to line 19 {absent.format('absent_ops')}",
        "Loops": f"x: float32[2, 16, 16], up to line 27 {absent.format('absent_kernels')}",
        "Tries": f"x: float32[2, 16, 16], up to line 35 {absent.format('absent_ops')}",
        "Adds": f"x: float32[2, 16, 16], up to line 44 {absent.format('absent_kernels')}",
    }
    assert outcome.coverage is not None
    assert [each.name for each in outcome.coverage.missing] == ["Begins"]
    # the branch is the program's own; where a stub is, nothing is known
    breaks = [(f.code, f.place.line) for f in outcome.findings if f.kind is Kind.GRAPH_BREAK]
    assert [line for _, line in breaks] == [17]
    assert {f.place.line for f in outcome.findings} == {17}
