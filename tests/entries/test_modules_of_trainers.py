"""A module that a trainer holds after the script has ended is called as one that no trainer holds."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.script_runs import project, run

from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")

NETS = """\
import torch


class Trainer:
    def note(self, value):
        raise RuntimeError("no step is running")


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(5, 2)
        self._trainer = None

    @property
    def trainer(self):
        return self._trainer

    @trainer.setter
    def trainer(self, trainer):
        self._trainer = trainer

    def __getstate__(self):
        return dict(self.__dict__, _trainer=None)

    def forward(self, x):
        y = self.linear(x)
        if self._trainer is not None:
            self._trainer.note(y)
        return y
"""
TRAIN = """\
from nets import Net, Trainer

net = Net()
net.trainer = Trainer()
for row in open("/nowhere/rows.txt"):
    net(row)
"""


def test_a_step_is_not_refused_by_a_trainer_that_has_ended(tmp_path: Path, warm_host: WarmHost) -> None:
    project(tmp_path, {"pyproject.toml": "", "nets.py": NETS, "train.py": TRAIN})
    outcome = run(warm_host, tmp_path / "train.py", "model")
    assert [call.target for call in outcome.calls] == ["Net"], outcome.failure
    assert outcome.graphs and not outcome.passed_over, outcome.notes
    assert not any("no step is running" in finding.message for finding in outcome.findings), outcome.findings
    assert not any("no step is running" in note for note in outcome.notes), outcome.notes
