"""A control group for the processes and threads of one run: the kernel starts no more than a number (Linux).

Otherwise they are counted ten times a second, and a machine that is busy starting them counts less often.
"""

from __future__ import annotations

import contextlib
import os
import sys
from dataclasses import dataclass

from .memory_group import MemoryGroup, new_folder, parents, remove, sweep, write

# threads of each process on average: those of libraries grow with the cores
THREADS_EACH = max(8, (os.cpu_count() or 1) // 16)
# what may be started beyond the limit, so that the run is seen to exceed it
BEYOND = 64


def most_threads(processes: int) -> int:
    """The threads that a run with so many processes may have; the first of each process counts."""
    return processes * THREADS_EACH


@dataclass(frozen=True, slots=True)
class TaskGroup:
    """A group in ``folder``."""

    folder: str

    def join(self) -> None:
        """Move this process into the group, and all that it starts. Raises OSError."""
        write(os.path.join(self.folder, "cgroup.procs"), str(os.getpid()))

    def remove(self) -> None:
        """Remove the group, whose processes are gone or about to be."""
        remove(self.folder)


def make_task_group(processes: int, memory: MemoryGroup | None) -> TaskGroup | None:
    """A group for a run with so many processes; None where this process cannot make one, or the group ``memory`` limits them, too."""
    if sys.platform != "linux" or not processes:
        return None
    most = str(most_threads(processes) + BEYOND)
    if memory is not None and memory.is_new:
        with contextlib.suppress(OSError):  # a parent without this controller
            write(os.path.join(memory.folder, "pids.max"), most)
        return None
    for parent, _ in parents("pids"):
        group = TaskGroup(new_folder(parent))
        try:
            sweep(parent)
            os.mkdir(group.folder)
        except OSError:
            continue
        try:
            write(os.path.join(group.folder, "pids.max"), most)
            if not os.access(os.path.join(group.folder, "cgroup.procs"), os.W_OK):
                raise PermissionError(group.folder)
        except OSError:
            group.remove()
            continue
        return group
    return None
