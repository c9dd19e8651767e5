"""Checks take a second host of an interpreter where there is one; runs of files never do."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from compile_lens.pipeline.host_pool import HostPool
from compile_lens.pipeline.scheduler import Reason
from compile_lens.workers import room


class FakeHost:
    def __init__(self, python: str) -> None:
        self.closed = 0

    async def close(self) -> None:
        self.closed += 1


def pool() -> tuple[HostPool[FakeHost], FakeHost, FakeHost]:
    hosts = HostPool(FakeHost)
    return hosts, hosts.host("python"), hosts.second("python")


def test_the_second_host_serves_checks_while_the_first_is_busy() -> None:
    async def serve() -> None:
        hosts, first, second = pool()
        hosts.take_part("python", second)
        assert hosts.width("python") == 2
        async with AsyncExitStack() as stack:
            enter = stack.enter_async_context
            assert await enter(hosts.turn_at_either("python", Reason.CHECKED)) is first
            assert await enter(hosts.turn_at_either("python", Reason.CHECKED)) is second
        async with hosts.turn("python", Reason.SAVED) as host:
            assert host is first

    asyncio.run(serve())


def test_a_third_check_waits_behind_a_run_of_a_file() -> None:
    async def serve() -> list[str]:
        hosts, first, second = pool()
        hosts.take_part("python", second)
        came = []

        async def take(name: str, reason: Reason) -> None:
            turn = hosts.turn if reason is Reason.SAVED else hosts.turn_at_either
            async with turn("python", reason) as host:
                came.append(f"{name} {'first' if host is first else 'second'}")

        async with hosts.turn("python", Reason.SAVED), hosts.turn_at_either("python", Reason.CHECKED):
            waiting = [
                asyncio.create_task(take("check", Reason.CHECKED)),
                asyncio.create_task(take("run", Reason.SAVED)),
            ]
            await asyncio.sleep(0)
            assert not came
        await asyncio.gather(*waiting)
        return came

    assert asyncio.run(serve()) == ["run first", "check first"]


def test_a_host_that_has_not_started_takes_no_part() -> None:
    async def serve() -> None:
        hosts, first, _ = pool()
        assert hosts.width("python") == 1
        async with hosts.turn_at_either("python", Reason.CHECKED) as host:
            assert host is first
            waits = asyncio.create_task(hosts.turn_at_either("python", Reason.CHECKED).__aenter__())
            await asyncio.sleep(0)
            assert not waits.done()
            waits.cancel()

    asyncio.run(serve())


def test_both_hosts_are_closed_and_one_that_starts_later_takes_no_part() -> None:
    async def serve() -> None:
        hosts, first, second = pool()
        await hosts.close()
        assert (first.closed, second.closed) == (1, 1)
        hosts.take_part("python", second)
        assert hosts.width("python") == 1

    asyncio.run(serve())


@pytest.mark.parametrize(
    ("processors", "available", "expected"),
    [
        (2, "MemAvailable: 8388608 kB", True),
        (1, "MemAvailable: 8388608 kB", False),
        (2, "MemAvailable: 1024 kB", False),
        (2, "", False),
    ],
)
def test_room_takes_processors_and_memory(
    processors: int, available: str, expected: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "meminfo").write_text(f"MemTotal: 9 kB\n{available}\n", encoding="ascii")
    monkeypatch.setattr(room, "MEMORY", tmp_path / "meminfo")
    monkeypatch.setattr(room.sys, "platform", "linux")
    monkeypatch.setattr(room.os, "sched_getaffinity", lambda _: set(range(processors)), raising=False)
    assert room.has_room() is expected


def test_a_pool_that_was_closed_has_no_host_until_it_is_asked_for_one() -> None:
    hosts, _, _ = pool()
    assert hosts.has("python")
    asyncio.run(hosts.close())
    assert not hosts.has("python")
