"""A program that the model is looked for in ends in time, whatever it waits for, and one part that is too large ends nothing else."""

from __future__ import annotations

import queue
import signal
from pathlib import Path

import pytest
from tests.entries.agent_package import agent_module
from tests.entries.script_runs import project, run

from compile_lens.analysis.finding import Kind
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")

TOO_LARGE = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.first = nn.Linear(16, dim)
        self.large = nn.Linear(dim, dim)

    def forward(self, x):
        return self.large(self.first(x)).sum()


def train():
    net = Net(dim=2_000_000)
    table = torch.empty(1 << 44)
    for _ in range(3):
        net(torch.randn(4, 16)).backward()


if __name__ == "__main__":
    train()
"""


def test_a_program_that_waits_for_ever_is_ended_by_the_clock() -> None:
    time_limit, guard = agent_module("inputs.calling.time_limit"), agent_module("inputs.scripts.guard")
    waiting = guard.Guard(100.0, print, print)
    with pytest.raises(guard.Enough), time_limit.by_clock(0.1, waiting.end):
        queue.Queue[int]().get()
    assert waiting.is_over
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL


def test_a_program_that_handles_its_end_is_ended_again(monkeypatch: pytest.MonkeyPatch) -> None:
    time_limit, guard = agent_module("inputs.calling.time_limit"), agent_module("inputs.scripts.guard")
    monkeypatch.setattr(time_limit, "_AGAIN_S", 0.1)
    handled = 0
    with pytest.raises(guard.Enough), time_limit.by_clock(0.1, guard.Guard(100.0, print, print).end):
        while handled < 2:
            try:
                queue.Queue[int]().get()
            except BaseException:
                handled += 1
        queue.Queue[int]().get()
    assert handled == 2


def test_an_alarm_of_the_program_is_its_own() -> None:
    time_limit, guard = agent_module("inputs.calling.time_limit"), agent_module("inputs.scripts.guard")
    rung: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, _: rung.append(number))
    try:
        with time_limit.by_clock(0.1, guard.Guard(100.0, print, print).end):
            assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
            signal.raise_signal(signal.SIGALRM)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert rung == [signal.SIGALRM]


def test_a_model_that_is_too_large_for_a_run_is_called_smaller(tmp_path: Path, warm_host: WarmHost) -> None:
    project(tmp_path, {"train.py": TOO_LARGE})
    outcome = run(warm_host, tmp_path / "train.py")
    assert outcome.entry == "model"
    assert [call.target for call in outcome.calls] == ["Net"]
    assert [finding.message for finding in outcome.findings if finding.kind is Kind.RUN_ERROR] == []
