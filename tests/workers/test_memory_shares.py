"""The runs that a server has at a time take no more memory together than one alone."""

from __future__ import annotations

import asyncio
import sys
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from tests.processes import Mark

from compile_lens.workers.access import Access, ResourceLimits
from compile_lens.workers.host import Host
from compile_lens.workers.job import End, EndKind, Job
from compile_lens.workers.memory_shares import MemoryShares

MIB = 1 << 20
# of both together; a process that has imported torch takes up to half a gigabyte of it
LIMIT_MIB = 3_000
HUNGRY = """\
import time
print("begins", time.monotonic(), flush=True)
taken = []
for _ in range(WANTED):
    taken.append(b"x" * (50 << 20))
    time.sleep(0.05)
time.sleep(1)
print("ends", time.monotonic(), flush=True)
"""


def job(share: float, access: Access = Access.SANDBOXED, file: str = "a.py") -> Job:
    return Job(file, timeout_s=60.0, access=access, budget=ResourceLimits(memory_gib=LIMIT_MIB / 1024, share=share))


def test_shares_never_come_to_more_than_the_whole() -> None:
    async def serve() -> None:
        shares, running, most = MemoryShares(), 0.0, 0.0

        async def run(share: float) -> None:
            nonlocal running, most
            async with shares.taken_by(job(share)):
                running += share
                most = max(most, running)
                await asyncio.sleep(0.01)
                running -= share

        tasks = [asyncio.create_task(run(share)) for share in (0.5, 0.5, 1.0, 0.5, 1.0, 1.0, 0.5, 0.5)]
        await asyncio.sleep(0)
        tasks[2].cancel()
        tasks[-1].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert most == 1.0
        async with AsyncExitStack() as stack:  # nothing is kept
            await asyncio.wait_for(stack.enter_async_context(shares.taken_by(job(1.0))), 1.0)

    asyncio.run(serve())


def test_one_that_stops_waiting_lets_smaller_ones_behind_it_go() -> None:
    async def serve() -> None:
        shares = MemoryShares()
        async with shares.taken_by(job(0.5)):
            whole = asyncio.create_task(shares.taken_by(job(1.0)).__aenter__())
            await asyncio.sleep(0)
            half = asyncio.create_task(shares.taken_by(job(0.5)).__aenter__())
            await asyncio.sleep(0)
            assert not half.done()
            whole.cancel()
            await asyncio.wait_for(half, 1.0)

    asyncio.run(serve())


@pytest.mark.parametrize("waits_first", [False, True])
def test_one_that_is_canceled_as_another_ends_is_canceled(waits_first: bool) -> None:
    """Both happen in one turn of the loop, as where an editor closes two documents."""

    async def serve() -> list[BaseException | None]:
        shares, forever = MemoryShares(), asyncio.Event()

        async def run() -> None:
            async with shares.taken_by(job(1.0)):
                await forever.wait()

        runs = []
        for _ in range(2):
            runs.append(asyncio.create_task(run()))
            await asyncio.sleep(0)
        for task in reversed(runs) if waits_first else runs:
            task.cancel()
        ended = await asyncio.gather(*runs, return_exceptions=True)
        async with shares.taken_by(job(1.0)):  # nothing is kept
            return ended

    assert all(isinstance(end, asyncio.CancelledError) for end in asyncio.run(serve()))


def test_nothing_is_left_of_shares_that_no_number_has_exactly() -> None:
    async def serve() -> None:
        shares = MemoryShares()
        first, second, third = (shares.taken_by(job(share)) for share in (0.2, 0.6, 0.3))
        await first.__aenter__()
        await second.__aenter__()
        await first.__aexit__(None, None, None)
        await third.__aenter__()
        await second.__aexit__(None, None, None)
        await third.__aexit__(None, None, None)
        await asyncio.wait_for(shares.taken_by(job(1.0)).__aenter__(), 1.0)

    asyncio.run(serve())


def test_what_runs_as_the_users_shell_would_takes_none() -> None:
    async def serve() -> None:
        shares = MemoryShares()
        async with shares.taken_by(job(1.0)):
            await asyncio.wait_for(shares.taken_by(job(1.0, Access.FULL)).__aenter__(), 1.0)

    asyncio.run(serve())


@pytest.mark.skipif(sys.platform != "linux", reason="memory of a run is limited on Linux")
@pytest.mark.parametrize(("share", "pieces"), [(0.5, 50), (1.0, 20)])
def test_two_hungry_runs_take_together_what_one_may(share: float, pieces: int, tmp_path: Path) -> None:
    """Two halves run at a time, and end where their half does; two that may take all run one after the other."""
    (tmp_path / "hungry.py").write_text(HUNGRY.replace("WANTED", str(pieces)))
    mark = Mark()

    async def serve() -> tuple[list[End], int]:
        shares = MemoryShares()
        hosts = [Host(sys.executable, mark.environment, shares=shares) for _ in range(2)]
        runs = [
            asyncio.create_task(host.run(job(share, file=str(tmp_path / "hungry.py")), lambda _: None))
            for host in hosts
        ]
        most = 0
        try:
            while not all(run.done() for run in runs):
                most = max(most, sum(map(own_memory, mark.alive())))
                await asyncio.sleep(0.05)
            return [await run for run in runs], most
        finally:
            for host in hosts:
                await host.close()

    ends, most = asyncio.run(serve())
    assert most < LIMIT_MIB * MIB
    if share < 1.0:
        assert not any("ends" in end.output for end in ends), [end.output for end in ends]
        assert all(
            end.reason == "memory" or "MemoryError" in end.output or end.kind is not EndKind.FINISHED for end in ends
        )
    else:
        times = sorted(
            [float(line.split()[1]) for line in end.output.splitlines() if line.startswith(("begins", "ends"))]
            for end in ends
        )
        assert times[0][1] <= times[1][0]
    assert mark.none_left()


def own_memory(pid: int) -> int:
    """Bytes that a process shares with no other."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(("Private_Clean:", "Private_Dirty:")))
