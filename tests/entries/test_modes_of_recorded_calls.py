"""The calls that a script makes are made again in the grad mode of each: in training with gradients, in a test without."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.script_runs import project, run

from compile_lens.analysis.finding import Kind
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")

NET = """\
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 8)

    def forward(self, x):
        return self.layer(x).relu()


net = Net()
"""
TRAINED = """
for batch in torch.randn(12, 8).split(4):
    net(batch).sum().backward()
with torch.no_grad():
    for batch in torch.randn(12, 8).split(6):
        net(batch)
"""
# the agent's own action has no gradient, the one that its critic judges has
JUDGED = """
with torch.no_grad():
    net(torch.randn(4, 8))
for _ in range(4):
    net(torch.randn(4, 8))
net(torch.randn(4, 8, requires_grad=True))
"""


def recompiles(folder: Path, host: WarmHost, text: str) -> list[str]:
    project(folder, {"train.py": text})
    outcome = run(host, folder / "train.py", "model")
    assert outcome.entry == "model"
    return [finding.message for finding in outcome.findings if finding.kind is Kind.RECOMPILE]


def test_a_size_that_only_the_test_has_is_no_recompile_of_the_training(tmp_path: Path, warm_host: WarmHost) -> None:
    assert recompiles(tmp_path, warm_host, NET + TRAINED) == ["Recompiled `forward`: grad mode changed (on → off)."]


def test_a_later_call_whose_input_needs_a_gradient_is_among_them(tmp_path: Path, warm_host: WarmHost) -> None:
    assert recompiles(tmp_path, warm_host, NET + JUDGED) == [
        "Recompiled `forward`: grad mode changed (off → on).",
        "Recompiled `forward`: `requires_grad` of `x` changed (False → True).",
    ]


# the slower copy is called first, and without gradients
COPIED = """
slow = Net()
with torch.no_grad():
    slow(torch.randn(4, 8))
net(torch.randn(4, 8))
net(torch.randn(4, 8, requires_grad=True))
"""


def test_a_model_that_is_called_in_another_way_than_its_twin_is_called_too(tmp_path: Path, warm_host: WarmHost) -> None:
    assert recompiles(tmp_path, warm_host, NET + COPIED) == [
        "Recompiled `forward`: `requires_grad` of `x` changed (False → True)."
    ]
