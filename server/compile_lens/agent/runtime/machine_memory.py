"""Sees that memory runs low for all programs while a run lasts, and that more of it went than the run is counted for (Linux).

What a program can have the kernel keep for it is in no list that is complete: access rights of files, rules, queues. All of it is
missing in the end from what the kernel says is available, to the machine or to the container that this process is in.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .memory_group import groups_around, numbers

MEMINFO = "/proc/meminfo"
# below a twentieth it is low; on a large machine, what cannot be filled in a tenth of a second is enough
SHARE, MOST = 20, 4 << 30
# of a control group: its limit, what is used of it, shared memory, and what can be had back (Documentation/admin-guide/cgroup-v2.rst,
# cgroup-v1/memory.rst)
NEW = ("memory.max", "memory.current", "shmem", ("active_file", "inactive_file", "slab_reclaimable"))
OLD = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_shmem", ("total_active_file", "total_inactive_file"))


def runs_low(total: int, before: int, now: int, counted: int) -> bool:
    """Whether little is available ``now`` of ``total`` bytes, and much more is gone since ``before`` than the ``counted`` bytes of a run.

    What other programs took meanwhile is gone, too: as much as is left to them at the end is not held against the run.
    """
    floor = min(total // SHARE, MOST)
    return now < floor and before - now > counted + min(floor, before // 2)


@dataclass(frozen=True, slots=True)
class _Pool:
    """Memory of ``total`` bytes; ``before`` were available when the run began."""

    total: int
    before: int
    available: Callable[[], int]


class MachineMemory:
    """What was available before the run. Made before it begins."""

    def __init__(self) -> None:
        machine = _of_machine()
        total = machine.get("MemTotal", 0)
        self._pools = [_Pool(total, machine["MemAvailable"], _available)] if total and "MemAvailable" in machine else []
        self._pools += _pools_around(total)
        self._shared = machine.get("Shmem", 0)
        self._group = _nearest_counting()
        self._shared_in_group = _shared_in(self._group)

    def runs_low(self, counted: Callable[[], int]) -> bool:
        """Whether it runs low, and not by what the run is ``counted`` for, which takes long to say."""
        for pool in self._pools:
            now = pool.available()
            # what does not hold for a run that is counted for nothing holds for none
            if runs_low(pool.total, pool.before, now, 0) and runs_low(pool.total, pool.before, now, counted()):
                return True
        return False

    def shared_since(self) -> int:
        """Bytes of shared memory, and of files in memory, that there are more than before, whoever made them."""
        return max(0, _of_machine().get("Shmem", 0) - self._shared)

    def shared_here_since(self) -> int:
        """The same, without those of other containers and sessions where control groups tell them apart; takes longer."""
        here = max(0, _shared_in(self._group) - self._shared_in_group) if self._group else self.shared_since()
        return min(here, self.shared_since())


def _of_machine() -> dict[str, int]:
    found = {}
    with contextlib.suppress(OSError, ValueError, IndexError), open(MEMINFO, "rb") as file:
        for line in file:
            name, _, value = line.partition(b":")
            if name in (b"MemTotal", b"MemAvailable", b"Shmem"):
                found[name.decode()] = int(value.split()[0]) << 10
    return found


def _available() -> int:
    return _of_machine().get("MemAvailable", 1 << 62)


def _pools_around(machine: int) -> Iterator[_Pool]:
    """The control groups around this process that have less than the ``machine``."""
    for folder, is_new in groups_around("memory"):
        limit = _number(os.path.join(folder, (NEW if is_new else OLD)[0]))
        if 0 < limit < machine:
            available = _AvailableInGroup(folder, is_new, limit)
            yield _Pool(limit, available(), available)


@dataclass(frozen=True, slots=True)
class _AvailableInGroup:
    folder: str
    is_new: bool
    limit: int

    def __call__(self) -> int:
        _, used, _, returned = NEW if self.is_new else OLD
        stat = numbers(os.path.join(self.folder, "memory.stat"))
        return self.limit - _number(os.path.join(self.folder, used)) + sum(stat.get(name, 0) for name in returned)


def _nearest_counting() -> tuple[str, str] | None:
    """The statistics of the nearest control group that has any, and the name of its shared memory."""
    for folder, is_new in groups_around("memory"):
        found = os.path.join(folder, "memory.stat"), (NEW if is_new else OLD)[2]
        if found[1] in numbers(found[0]):
            return found
    return None


def _shared_in(group: tuple[str, str] | None) -> int:
    return numbers(group[0]).get(group[1], 0) if group is not None else 0


def _number(path: str) -> int:
    """0 where there is none, such as the word for "no limit"."""
    with contextlib.suppress(OSError, ValueError), open(path, encoding="ascii") as file:
        return int(file.read())
    return 0
