"""The copy of a standby that has the packages of the last run imported, as a process."""

from __future__ import annotations

import asyncio

import psutil

from compile_lens.workers.host import Host

PATIENCE_S = 60.0
LOOK_EVERY_S = 0.1
# how often in a row a process is seen at rest that has no more work to do
AT_REST = 5


async def copy_of(host: Host) -> psutil.Process | None:
    """The copy, once it has imported everything and waits for its first run; None once it has ended."""
    assert host.hello is not None
    standby = psutil.Process(host.hello.pid)
    before, seen = -1.0, 0
    for _ in range(int(PATIENCE_S / LOOK_EVERY_S)):
        await asyncio.sleep(LOOK_EVERY_S)
        for copy in standby.children():
            if copy.status() == psutil.STATUS_ZOMBIE:
                return None
            used = sum(copy.cpu_times()[:2])
            is_at_rest = copy.status() == psutil.STATUS_SLEEPING and used == before and not copy.children()
            seen, before = seen + 1 if is_at_rest else 0, used
            if seen == AT_REST:
                return copy
    raise AssertionError("the copy is still at work")


async def has_ended(host: Host) -> bool:
    """Whether the copy ends, instead of waiting for a run."""
    assert host.hello is not None
    standby = psutil.Process(host.hello.pid)
    for _ in range(int(PATIENCE_S / LOOK_EVERY_S)):
        await asyncio.sleep(LOOK_EVERY_S)
        if any(copy.status() == psutil.STATUS_ZOMBIE for copy in standby.children()):
            return True
    return False
