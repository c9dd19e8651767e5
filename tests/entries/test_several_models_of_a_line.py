"""Models that one line of a script makes after one another: all are called, also those that it makes only after the first call, and what
the compiler knows of one is there for the next, as in the script."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.script_runs import graph_breaks, project, run

from compile_lens.analysis.finding import Kind
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")

SEVERAL = """\
import torch
from torch import nn


class Gated(nn.Module):
    def forward(self, x):
        if x.sum() > 1e9:  # the break
            return x
        return x * torch.sigmoid(x)


def train(activation):
    model = nn.Sequential(nn.Linear(4, 8), activation(), nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(3):
        loss = model(torch.randn(16, 4)).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return loss.item()


print(train(nn.ReLU), train(nn.GELU), train(Gated))
"""


def test_each_model_is_called_after_the_one_before(tmp_path: Path, warm_host: WarmHost) -> None:
    project(tmp_path, {"train.py": SEVERAL})
    outcome = run(warm_host, tmp_path / "train.py", "model")
    assert set(graph_breaks(outcome)) == {("train.py", 7)}
    (recompile,) = [finding for finding in outcome.findings if finding.kind is Kind.RECOMPILE]
    assert recompile.place.line == 13
    assert recompile.message == "Recompiled `Sequential` twice: type of `fn[1]` changed (was ReLU, then GELU)."
