"""The time limit of a check holds for all of its entries together."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from compile_lens.analysis.finding import Finding, Kind, Place, Severity
from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.pipeline import entry_choice
from compile_lens.pipeline.entry_choice import analyze_by_entries, choose
from compile_lens.pipeline.entry_time import EntryTime
from compile_lens.workers.job import Job

SCRIPT = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x):
        return x


if __name__ == "__main__":
    Net()(torch.ones(2))
"""
EXAMPLES = "def test_{number}():\n    Net()(torch.ones(2))\n"


class SlowRuns:
    """Each run takes all of its time, and ends with nothing."""

    def __init__(self) -> None:
        self.now = 0.0
        self.limits: list[tuple[str, float]] = []

    async def analyze(self, host: Any, job: Job, on_partial: Any, filters: Any) -> Outcome:
        """Run ``job`` until its limit."""
        self.limits.append((job.entry, job.timeout_s))
        self.now += job.timeout_s
        place = Place(job.file, 1, 1, 1, 2)
        stop = Finding("run-error", Kind.RUN_ERROR, Severity.WARNING, "Stopped here after a while.", place)
        return Outcome(job.file, "", "", "", job.entry, Status.TIMEOUT, job.timeout_s, findings=(stop,))


def check(
    folder: Path, monkeypatch: pytest.MonkeyPatch, requested: str = "", tests: int = 0
) -> tuple[SlowRuns, Outcome]:
    file, runs = folder / "net.py", SlowRuns()
    file.write_text(SCRIPT)
    if tests:
        (folder / "test_net.py").write_text(
            "import torch\nfrom net import Net\n\n" + "\n".join(EXAMPLES.format(number=each) for each in range(tests))
        )
    monkeypatch.setattr(entry_choice, "EntryTime", lambda limit_s: EntryTime(limit_s, lambda: runs.now))
    choice = choose(str(file), SCRIPT, folder, requested)
    return runs, asyncio.run(analyze_by_entries(runs.analyze, None, Job(str(file), timeout_s=100), choice))


def test_entries_share_the_limit_and_the_last_one_always_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs, outcome = check(tmp_path, monkeypatch)
    assert runs.limits == [("model", 80), ("script", 20), ("synthesized", 20)]
    reasons = {way.entry: way.reason for way in outcome.passed_over}
    assert reasons["model"] == "It was stopped after 80 s."


def test_no_entry_but_the_last_begins_after_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs, outcome = check(tmp_path, monkeypatch, tests=4)
    assert runs.limits[-1] == ("synthesized", 20)
    assert runs.now <= 120
    assert any(way.reason == entry_choice.NO_TIME for way in outcome.passed_over)


def test_an_entry_that_the_user_names_has_the_whole_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs, outcome = check(tmp_path, monkeypatch, requested="model")
    assert runs.limits == [("model", 100)]
    assert [finding.message for finding in outcome.findings] == ["Stopped here after a while."]


def test_what_comes_before_the_first_run_takes_none_of_its_time() -> None:
    now = iter([0.0, 0.4, 30.9, 99.0, 250.0])
    time = EntryTime(100.0, lambda: next(now))
    lasts = [time.left_for(is_last=False, is_usual=False) for _ in range(4)]
    assert lasts == [100, 70, 20, 20]
