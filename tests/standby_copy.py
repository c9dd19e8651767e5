"""The copy of a standby that has the packages of the last run imported, as a process."""

from __future__ import annotations

import asyncio

import psutil

from compile_lens.workers.host import Host

PATIENCE_S = 60.0


async def copy_of(host: Host) -> psutil.Process | None:
    """The copy, once it has imported everything; None once it has ended."""
    assert host.hello is not None
    standby = psutil.Process(host.hello.pid)
    before = -1.0
    for _ in range(int(PATIENCE_S / 0.1)):
        await asyncio.sleep(0.1)
        for copy in standby.children():
            if copy.status() == psutil.STATUS_ZOMBIE:
                return None
            # it has work to do until it waits for its first run
            used = sum(copy.cpu_times()[:2])
            if copy.status() == psutil.STATUS_SLEEPING and used == before and not copy.children():
                return copy
            before = used
    raise AssertionError("the copy is still at work")
