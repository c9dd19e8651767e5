"""Adds up the processor time of a run's processes, those that have ended included, and how long they waited for it (Linux)."""

from __future__ import annotations

import contextlib
import os

TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
# more processes than any honest program starts; what they have used is then one number
MOST_REMEMBERED = 20_000
# fields of /proc/PID/stat after the name (proc(5))
OWN, OF_CHILDREN, THREADS, BEGAN = slice(11, 13), slice(13, 15), 17, 19


class ProcessorTime:
    """What was seen so far. A process whose parent ignores its end (SIGCHLD) takes its time along; the last that was seen of it stays."""

    def __init__(self) -> None:
        self._own: dict[tuple[int, int], int] = {}
        self._forgotten = 0
        # of the process that waited longest for a processor while it could have run
        self.waited_s = 0.0

    def look(self, tree: list[int]) -> tuple[float, int]:
        """Seconds that the processes ``tree`` and those before them have used, and how many threads there are now."""
        living = threads = 0
        for pid in tree:
            with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/stat", "rb") as stat:
                fields = stat.read().rpartition(b")")[2].split()
                own = sum(map(int, fields[OWN]))
                self._own[pid, int(fields[BEGAN])] = own
                # of children, those that it has waited for
                living += own + sum(map(int, fields[OF_CHILDREN]))
                threads += int(fields[THREADS])
            self.waited_s = max(self.waited_s, _waited_s(pid))
        # both count some of those that have ended: neither counts one twice
        ticks = max(living, self._forgotten + sum(self._own.values()))
        if len(self._own) > MOST_REMEMBERED:
            self._forgotten += sum(self._own.values())
            self._own.clear()
        return ticks / TICKS, threads


def _waited_s(pid: int) -> float:
    """How long the first thread of a process was ready to run and did not; 0 where the kernel does not say (CONFIG_SCHED_INFO)."""
    with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/schedstat", "rb") as schedstat:
        return int(schedstat.read().split()[1]) / 1e9
    return 0.0
