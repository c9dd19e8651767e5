"""An analysis as it goes on: what is told while the program still runs, and that nothing is told afterwards."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from compile_lens.agent.runtime.protocol import RunStarted, SandboxFailed
from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.pipeline import analyze as analyze_module
from compile_lens.pipeline.analyze import analyze
from compile_lens.pipeline.partial_outcomes import PartialOutcomes
from compile_lens.workers.host import Host
from compile_lens.workers.job import End, EndKind, Job
from compile_lens.workers.wire import Frame
from warm_host import Shared, WarmHost

BREAKS_AND_GOES_ON = """\
import time, torch

@torch.compile
def f(x):
    print("a")
    return x + 1

f(torch.ones(2))
while True:
    time.sleep(0.01)
"""


def test_findings_come_while_the_program_runs_on(tmp_path: Path, warm_host: WarmHost) -> None:
    file = tmp_path / "train.py"
    file.write_text(BREAKS_AND_GOES_ON)
    warm_host.wait_for(findings_come_while_it_runs(warm_host.shared(), file))


async def findings_come_while_it_runs(host: Host, file: Path) -> None:
    partials: asyncio.Queue[Outcome] = asyncio.Queue()
    frames: list[Frame] = []
    job = Job(str(file), timeout_s=100.0)
    running = asyncio.create_task(analyze(host, job, partials.put_nowait, watch=frames.append))
    try:
        while True:
            partial = await asyncio.wait_for(partials.get(), 60.0)
            assert not partial.final
            if partial.graphs == 1:  # the last thing that the program compiles
                break
        assert [finding.code for finding in partial.findings] == ["GB0059"]
        assert not running.done()
    finally:
        (started,) = (frame for frame in frames if isinstance(frame, RunStarted))
        os.kill(started.pid, signal.SIGKILL)
        outcome = await running
    assert (outcome.status, outcome.final) == (Status.KILLED, True)
    assert [finding.code for finding in outcome.findings] == ["run-error", "GB0059"]


MANY_BREAKS = """\
import time, torch

@torch.compile
def f(x, n):
    print(n)
    return x + n

for n in range(4):
    torch._dynamo.reset()
    f(torch.ones(2), n)
    time.sleep(0.1)
"""


def test_findings_are_made_beside_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warm_host: WarmHost
) -> None:
    file = tmp_path / "train.py"
    file.write_text(MANY_BREAKS)
    threads: list[threading.Thread] = []
    find = analyze_module.find

    def slow_find(*args: object, **kwargs: object) -> object:
        threads.append(threading.current_thread())
        time.sleep(0.5)
        return find(*args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(analyze_module, "find", slow_find)
    host = warm_host.shared()
    told: list[Outcome] = []
    longest = 0.0

    async def watch_the_loop() -> None:
        nonlocal longest
        while True:
            before = time.monotonic()
            await asyncio.sleep(0.01)
            longest = max(longest, time.monotonic() - before)

    async def analyze_and_wait() -> tuple[Outcome, int]:
        await host.start()
        watcher = asyncio.create_task(watch_the_loop())
        outcome = await analyze(host, Job(str(file), timeout_s=100.0), told.append)
        count = len(told)
        await asyncio.sleep(0.7)  # a partial one that was being made when the run ended is ready by then
        watcher.cancel()
        return outcome, count

    outcome, count = warm_host.wait_for(analyze_and_wait())
    assert outcome.status is Status.OK, outcome.failure or outcome.output
    assert len(threads) >= 2 and threading.main_thread() not in threads
    assert longest < 0.4
    assert outcome.final and len(told) == count and not any(partial.final for partial in told)


class Snapshots:
    """What is known at each snapshot is a number; making an outcome of one takes ``cost`` seconds."""

    def __init__(self, cost: float) -> None:
        self._numbers = itertools.count()
        self._cost = cost
        self.taken: list[float] = []

    def __call__(self) -> Callable[[], Outcome]:
        number = next(self._numbers)
        self.taken.append(time.monotonic())

        def make() -> Outcome:
            time.sleep(self._cost)
            return Outcome(str(number), "", "", "", "", Status.OK, 0.0)

        return make


async def test_what_is_dear_is_told_seldom_and_of_the_newest_alone() -> None:
    snapshots = Snapshots(cost=0.05)
    told: list[Outcome] = []
    partials = PartialOutcomes(snapshots, told.append)
    end = time.monotonic() + 1.0
    while time.monotonic() < end:
        partials.changed()
        await asyncio.sleep(0.005)
    partials.end()
    await asyncio.sleep(0.1)
    between = [later - earlier for earlier, later in itertools.pairwise(snapshots.taken)]
    assert between and min(between) >= 6 * 0.05
    assert 2 <= len(told) <= 4


async def test_the_last_news_is_told_without_more() -> None:
    told: list[Outcome] = []
    partials = PartialOutcomes(Snapshots(cost=0.0), told.append)
    partials.changed()
    partials.changed()
    await asyncio.sleep(0.2)
    partials.changed()
    await asyncio.sleep(0.3)
    assert [outcome.file for outcome in told] == ["0", "1"]
    partials.end()


class NotSafeAtFirst(Shared):
    """A host whose sandbox cannot be set up for the first run."""

    async def run(self, job: Job, on_frame: Callable[[Frame], None]) -> End:
        if not hasattr(self, "failed"):
            self.failed = True
            on_frame(SandboxFailed("a folder is gone"))
            return End(EndKind.FINISHED)
        return await self._host.run(job, on_frame)


def test_a_sandbox_that_could_not_be_set_up_is_tried_again(tmp_path: Path, warm_host: WarmHost) -> None:
    file = tmp_path / "script.py"
    file.write_text("print('ran')\n")
    host: Host = NotSafeAtFirst(warm_host.shared())  # type: ignore[assignment]
    assert warm_host.wait_for(analyze(host, Job(str(file)))).output == "ran\n"
