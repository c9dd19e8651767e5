"""Measures what a run's process tree uses, and compares it with the limits (Linux)."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, field

from . import processes
from .disk_growth import DiskGrowth, size_below
from .memory_group import MemoryGroup
from .processor_time import ProcessorTime
from .protocol import SandboxKind, SandboxSpec
from .shared_files import SharedFiles
from .socket_memory import FlyingSockets, descriptors, in_connections, in_sockets
from .task_clock import TaskClock
from .task_group import most_threads

EVERY_S = 0.1
# what the kernel keeps for an open file: its entry, its inode, and what belongs to its kind
DESCRIPTOR_BYTES = 1024
# its place in the table of its process, which is as large as the highest number that was open
PLACE_BYTES = 8


@dataclass(frozen=True, slots=True)
class TreeBudget:
    """What a run's whole process tree may use; its scratch folder holds its files while there is no better place.

    ``group`` counts its memory, where there can be one. ``shared`` are files in shared memory, None where the run sees only its own.
    ``growth`` says how much of real disks it has taken. ``clock`` counts its processor time, if the kernel lets it.
    """

    spec: SandboxSpec
    kind: str
    group: MemoryGroup | None
    shared: SharedFiles | None
    growth: DiskGrowth
    time: ProcessorTime = field(default_factory=ProcessorTime)
    clock: TaskClock | None = None
    flying: FlyingSockets = field(default_factory=FlyingSockets)

    def exceeded(self, child: int) -> str:
        """``memory``, ``processes``, ``cpu`` or ``disk`` if the tree of ``child`` has used up its share; '' if not."""
        tree = list(processes.tree_of_run())
        if self.shared is not None:
            self.shared.look(set(tree))
        seconds, threads = self.time.look(tree)
        if self.spec.processes and (len(tree) > self.spec.processes or threads > most_threads(self.spec.processes)):
            return "processes"
        if self.spec.cpu_s and max(seconds, self._counted_by_kernel()) > self.spec.cpu_s:
            return "cpu"
        if self.spec.memory_bytes and self._uses_too_much_memory(child, tree):
            return "memory"
        if self.spec.disk_bytes and self._on_disk(set(tree)) + self.growth.bytes(tree) > self.spec.disk_bytes:
            return "disk"
        return ""

    def ended_by_kernel(self) -> bool:
        """Whether the kernel has ended a process because memory was used up."""
        return self.group is not None and self.group.killed()

    def _counted_by_kernel(self) -> float:
        """Seconds, those of the shortest lives included; 0 where the kernel does not count them for this process."""
        of_group = self.group.seconds() if self.group is not None else 0.0
        return max(of_group, self.clock.seconds() if self.clock is not None else 0.0)

    def _uses_too_much_memory(self, child: int, tree: list[int]) -> bool:
        held = sum(map(held_by_kernel, tree))
        # in a network of its own, all connections are of this run
        connected = in_connections(child) if self.kind == SandboxKind.OVERLAY.value and not self.spec.network else 0
        limit = self.spec.memory_bytes
        if max(held + connected, in_sockets(tree, limit), self.flying.bytes(tree, child, limit)) > limit:
            return True
        if self.group is None or not self.group.holds(child):
            # what processes share is counted once for each: only what looks like too much is measured
            return all(sum(map(size, tree)) + held > self.spec.memory_bytes for size in (_resident, _proportional))
        own, shared = self.group.used()
        own += held
        if own + shared <= self.spec.memory_bytes:
            return self.group.killed()
        # files in memory have a limit of their own
        if self.kind == SandboxKind.OVERLAY.value:
            files = _used_below(f"/proc/{child}/root{self.spec.scratch}")
        else:
            files = self._on_disk(set(tree))
        return own + max(0, shared - files) > self.spec.memory_bytes

    def _on_disk(self, tree: set[int]) -> int:
        """Bytes of files that the run has written where others see them."""
        total = size_below(self.spec.scratch)
        # looking at all processes takes long, and is done where it matters alone
        if self.shared is not None and self.shared.size() + total > self.spec.disk_bytes:
            total += sum(self.shared.of_run(tree).values())
        return total


def _used_below(folder: str) -> int:
    """Bytes in the file system that is mounted on ``folder``; 0 where none is, or it is out of sight."""
    try:
        if os.stat(folder).st_dev == os.stat(os.path.join(folder, os.pardir)).st_dev:
            return 0
        status = os.statvfs(folder)
    except OSError:
        return 0
    return (status.f_blocks - status.f_bfree) * status.f_frsize


def held_by_kernel(pid: int) -> int:
    """Bytes of the kernel's that a process takes beside its memory: page tables, what is open, and the table of that."""
    total = DESCRIPTOR_BYTES * descriptors(pid)
    with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/status", "rb") as status:
        for line in status:
            if line.startswith(b"FDSize:"):
                total += int(line.split()[1]) * PLACE_BYTES
            elif line.startswith(b"VmPTE:"):
                total += int(line.split()[1]) * 1024
                break
    return total


def _resident(pid: int) -> int:
    with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/statm", "rb") as memory:
        return int(memory.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _proportional(pid: int) -> int:
    with contextlib.suppress(OSError, ValueError), open(f"/proc/{pid}/smaps_rollup", "rb") as memory:
        for line in memory:
            if line.startswith(b"Pss:"):
                return int(line.split()[1]) * 1024
    return _resident(pid)
