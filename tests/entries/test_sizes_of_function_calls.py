"""A function that a script calls with tensors of one size several times, and then with another, is called with that one, too."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.script_runs import project, run

from compile_lens.analysis.finding import Kind
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")

ENERGIES = """\
import torch


def energy(x, k):
    return (x * k).sum() + x.pow(2).mean()


for n in [8, 8, 8, 16, 32]:
    print(energy(torch.randn(n), 2.0))
"""


def test_a_later_size_is_a_recompile(tmp_path: Path, warm_host: WarmHost) -> None:
    project(tmp_path, {"energies.py": ENERGIES})
    outcome = run(warm_host, tmp_path / "energies.py", "model")
    found = [finding.message for finding in outcome.findings if finding.kind is Kind.RECOMPILE]
    assert found == ["Recompiled `energy`: size 0 of `x` changed (8 → 16)."]
