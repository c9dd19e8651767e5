"""A process of ours that fails ends neither the checks of fixes nor becomes the effect of one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from msgspec.structs import replace

from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.lsp import fix_checks
from compile_lens.lsp.fix_checks import FixChecks, Turns
from compile_lens.pipeline.host_pool import HostPool
from compile_lens.pipeline.scheduler import Reason
from compile_lens.workers.host import HostError
from compile_lens.workers.job import Job

FINE = Outcome("train.py", "python", "2.13.0", "dynamo", "script", Status.OK, 1.0)
LOST = replace(FINE, status=Status.KILLED, lost=True)
TURNS = Turns("python", Reason.CHECKED)


class FakeHost:
    """Starts unless it is one of the ``broken``."""

    broken: ClassVar[set[int]] = set()
    made: ClassVar[list[FakeHost]] = []

    def __init__(self, python: str) -> None:
        self.number = len(self.made)
        self.is_closed = False
        self.made.append(self)

    async def start(self) -> None:
        if self.number in self.broken:
            raise HostError("it cannot import torch")

    async def close(self) -> None:
        self.is_closed = True


@pytest.fixture(autouse=True)
def hosts(monkeypatch: pytest.MonkeyPatch) -> HostPool[FakeHost]:
    monkeypatch.setattr(FakeHost, "broken", set())
    monkeypatch.setattr(FakeHost, "made", [])
    monkeypatch.setattr(fix_checks, "has_room", lambda: True)
    return HostPool(FakeHost)


def checks(hosts: HostPool[FakeHost], outcomes: Callable[[FakeHost, Job], Outcome]) -> FixChecks:
    async def analyze(host: FakeHost, job: Job, *_: Any) -> Outcome:
        return outcomes(host, job)

    server: Any = SimpleNamespace(hosts=hosts, analyze=analyze)
    runs: Any = SimpleNamespace(on_change=lambda _: None)
    return FixChecks(server, runs)


async def analyzed(found: FixChecks) -> Outcome:
    return await found._analyze(TURNS, Job("train.py"), None, None)  # type: ignore[arg-type]


async def test_a_second_standby_that_cannot_start_leaves_one_at_a_time(
    hosts: HostPool[FakeHost], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    hosts.host("python")
    FakeHost.broken.add(1)
    found = checks(hosts, lambda *_: FINE)
    await found._start_second("python")
    assert hosts.width("python") == 1
    assert FakeHost.made[1].is_closed
    assert "One fix is tried at a time: it cannot import torch" in caplog.text
    assert await analyzed(found) is FINE


async def test_a_second_standby_that_cannot_start_again_is_left_and_the_fix_is_tried(
    hosts: HostPool[FakeHost],
) -> None:
    first, second = hosts.host("python"), hosts.second("python")
    hosts.take_part("python", second)
    FakeHost.broken.add(1)
    found = checks(hosts, lambda host, _: FINE if host is first else LOST)
    async with hosts.turn("python", Reason.SAVED):  # the first is busy, so the second one is asked
        tried = asyncio.create_task(analyzed(found))
        await asyncio.sleep(0.1)
    assert await tried is FINE
    assert second.is_closed


async def test_no_room_for_a_second_standby_is_told(
    hosts: HostPool[FakeHost], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.INFO)
    hosts.host("python")
    monkeypatch.setattr(fix_checks, "has_room", lambda: False)
    await checks(hosts, lambda *_: FINE)._start_second("python")
    assert len(FakeHost.made) == 1
    assert "the machine has no room for a second standby" in caplog.text


async def test_a_run_whose_process_is_lost_is_begun_again(hosts: HostPool[FakeHost]) -> None:
    outcomes = [LOST, FINE]
    assert await analyzed(checks(hosts, lambda *_: outcomes.pop(0))) is FINE
    outcomes = [LOST, LOST, FINE]
    assert await analyzed(checks(hosts, lambda *_: outcomes.pop(0))) is LOST
