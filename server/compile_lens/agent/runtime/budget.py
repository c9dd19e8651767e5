"""What a run has used up so far, processes and all, beside what it may (Linux)."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from typing import Any

from . import processes

EVERY_S = 0.1
TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


@dataclass(frozen=True, slots=True)
class Budget:
    """Of the whole tree; 0 is no limit. ``folder`` is where a run leaves files while there is no better place."""

    memory_bytes: int
    processes: int
    cpu_s: int
    disk_bytes: int
    folder: str

    @staticmethod
    def read(fields: dict[str, Any]) -> Budget:
        """The budget in a command of the host's."""
        return Budget(
            fields["memory_bytes"], fields["processes"], fields["cpu_s"], fields["disk_bytes"], fields["scratch"]
        )

    def exceeded(self, child: int) -> str:
        """``memory``, ``processes``, ``cpu`` or ``disk`` if the tree of ``child`` has used up its share; '' if not."""
        tree = list(processes.descendants(os.getpid()))
        if self.processes and len(tree) > self.processes:
            return "processes"
        if self.cpu_s and sum(map(_cpu_ticks, tree)) / TICKS > self.cpu_s:
            return "cpu"
        # what processes share is counted once for each: only what looks like too much is measured
        if self.memory_bytes and all(sum(map(size, tree)) > self.memory_bytes for size in (_resident, _proportional)):
            return "memory"
        if self.disk_bytes and _size(self.folder) > self.disk_bytes:
            return "disk"
        return ""


def _cpu_ticks(pid: int) -> int:
    with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/stat", "rb") as stat:
        fields = stat.read().rpartition(b")")[2].split()
        return sum(map(int, fields[11:15]))  # its own, and that of children it has waited for
    return 0


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


def _size(folder: str) -> int:
    """Bytes below ``folder``, as far as they can be seen from here."""
    total = 0
    for where, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(where, name)).st_blocks * 512
    return total
