"""Measures what a run's process tree uses, and compares it with the limits (Linux)."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass

from . import processes
from .protocol import SandboxSpec

EVERY_S = 0.1
TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


@dataclass(frozen=True, slots=True)
class TreeBudget:
    """What a run's whole process tree may use; its scratch folder holds its files while there is no better place."""

    spec: SandboxSpec

    def exceeded(self, child: int) -> str:
        """``memory``, ``processes``, ``cpu`` or ``disk`` if the tree of ``child`` has used up its share; '' if not."""
        tree = list(processes.descendants(os.getpid()))
        if self.spec.processes and len(tree) > self.spec.processes:
            return "processes"
        if self.spec.cpu_s and sum(map(_cpu_ticks, tree)) / TICKS > self.spec.cpu_s:
            return "cpu"
        # what processes share is counted once for each: only what looks like too much is measured
        if self.spec.memory_bytes and all(
            sum(map(size, tree)) > self.spec.memory_bytes for size in (_resident, _proportional)
        ):
            return "memory"
        if self.spec.disk_bytes and _size(self.spec.scratch) > self.spec.disk_bytes:
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
