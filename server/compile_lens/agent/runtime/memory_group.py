"""A control group for the memory of one run, where the system lets this process make one (Linux).

Only the kernel counts everything: memory files without a mapping, buffers, page tables. Version 2 needs a parent that has the memory
controller enabled for its children and is delegated to the user; version 1 needs root.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

PREFIX = "compile-lens-run-"
SWAP_LIMITS = ("memory.swap.max", "memory.memsw.limit_in_bytes")


@dataclass(frozen=True, slots=True)
class MemoryGroup:
    """A group in ``folder``. ``counts`` are the names of what is counted: memory of processes, and shared memory."""

    folder: str
    limit: str
    events: str
    counts: tuple[str, str]

    @property
    def is_new(self) -> bool:
        """Whether it is of version 2, where one group limits all."""
        return self.limit == "memory.max"

    def join(self) -> None:
        """Move this process into the group, and all that it starts. Raises OSError."""
        write(os.path.join(self.folder, "cgroup.procs"), str(os.getpid()))

    def holds(self, pid: int) -> bool:
        """Whether process ``pid``, or the one that a thread of this number is of, is in the group."""
        with contextlib.suppress(OSError), open(os.path.join(self.folder, "cgroup.procs"), encoding="ascii") as file:
            listed = file.read().split()
            return str(pid) in listed or _process_of(pid) in listed
        return False

    def used(self) -> tuple[int, int]:
        """Bytes of processes' own memory, and of shared memory and files in memory."""
        found = self._numbers("memory.stat")
        return found.get(self.counts[0], 0), found.get(self.counts[1], 0)

    def killed(self) -> bool:
        """Whether the kernel has ended a process because the limit was reached."""
        return self._numbers(self.events).get("oom_kill", 0) > 0

    def seconds(self) -> float:
        """Processor time of all processes that were ever in the group; 0 where it does not count that, as in version 1."""
        return self._numbers("cpu.stat").get("usage_usec", 0) / 1e6

    def lower(self, niceness: int) -> None:
        """Weigh the whole group as one process of this niceness, where it has the controller of processors, too (version 2): what sessions
        there are in it then does not matter."""
        weight = os.path.join(self.folder, "cpu.weight.nice")
        if os.path.exists(weight):
            with contextlib.suppress(OSError):
                write(weight, str(niceness))

    def remove(self) -> None:
        """Remove the group, whose processes are gone or about to be."""
        remove(self.folder)

    def _numbers(self, name: str) -> dict[str, int]:
        return numbers(os.path.join(self.folder, name))


def _process_of(thread: int) -> str:
    with contextlib.suppress(OSError), open(f"/proc/{thread}/status", encoding="ascii", errors="replace") as status:
        return next((line.split()[1] for line in status if line.startswith("Tgid:")), "")
    return ""


def numbers(path: str) -> dict[str, int]:
    """The numbers of a file with a name and a number in each line, as far as it can be read."""
    found: dict[str, int] = {}
    with contextlib.suppress(OSError, ValueError), open(path, encoding="ascii") as file:
        for line in file:
            key, _, value = line.partition(" ")
            found[key] = int(value)
    return found


def make_group(limit_bytes: int) -> MemoryGroup | None:
    """A new group whose memory ends at ``limit_bytes``; None where this process cannot make one."""
    if sys.platform != "linux" or not limit_bytes:
        return None
    for parent, is_new in parents("memory"):
        folder = new_folder(parent)
        group = (
            MemoryGroup(folder, "memory.max", "memory.events", ("anon", "shmem"))
            if is_new
            else MemoryGroup(folder, "memory.limit_in_bytes", "memory.oom_control", ("total_rss", "total_shmem"))
        )
        try:
            sweep(parent)
            os.mkdir(folder)
        except OSError:
            continue
        try:
            write(os.path.join(folder, group.limit), str(limit_bytes))
            for name in SWAP_LIMITS:
                with contextlib.suppress(OSError):  # no swap, or not counted
                    write(os.path.join(folder, name), "0" if is_new else str(limit_bytes))
            with contextlib.suppress(OSError):
                write(os.path.join(folder, "memory.oom.group"), "1")
            if not os.access(os.path.join(folder, "cgroup.procs"), os.W_OK):
                raise PermissionError(folder)
        except OSError:
            group.remove()
            continue
        return group
    return None


def new_folder(parent: str) -> str:
    """Where a group of this process can be made; the name says whose it is."""
    return os.path.join(parent, f"{PREFIX}{os.getpid()}-{time.monotonic_ns()}")


def parents(controller: str) -> Iterator[tuple[str, bool]]:
    """Groups below which one that has ``controller`` could be made, the nearest first, and whether they are of version 2."""
    for folders, is_new in _chains(controller):
        for folder in folders if is_new else folders[:1]:
            if not is_new or _gives(folder, controller):
                yield folder, is_new


def groups_around(controller: str) -> Iterator[tuple[str, bool]]:
    """The groups that this process is in, the nearest first, as far as they are in sight, and whether they are of version 2."""
    for folders, is_new in _chains(controller):
        for folder in folders:
            yield folder, is_new


def _chains(controller: str) -> Iterator[tuple[list[str], bool]]:
    for mount, root, is_new in _hierarchies(controller):
        own = os.path.normpath(mount + "/" + os.path.relpath(_own_group(is_new, controller) or root, root))
        found = []
        while own.startswith(mount):
            found.append(own)
            if own == mount:
                break
            own = os.path.dirname(own)
        yield found, is_new


def _gives(folder: str, controller: str) -> bool:
    """Whether children of the group ``folder`` are limited, and this process may move itself into one."""
    try:
        with open(os.path.join(folder, "cgroup.subtree_control"), encoding="ascii") as file:
            return controller in file.read().split() and os.access(os.path.join(folder, "cgroup.procs"), os.W_OK)
    except OSError:
        return False


def _hierarchies(controller: str) -> Iterator[tuple[str, str, bool]]:
    """Mount point, root and kind of each hierarchy that can have ``controller``."""
    with contextlib.suppress(OSError), open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as table:
        for line in table:
            left, _, right = line.partition(" - ")
            kind, options = right.split()[0], right.split()[-1]
            if kind == "cgroup2" or (kind == "cgroup" and controller in options.split(",")):
                yield left.split()[4], left.split()[3], kind == "cgroup2"


def _own_group(is_new: bool, controller: str) -> str:
    with contextlib.suppress(OSError), open("/proc/self/cgroup", encoding="utf-8", errors="replace") as file:
        for line in file:
            number, controllers, path = line.rstrip("\n").split(":", 2)
            if (number == "0") if is_new else (controller in controllers.split(",")):
                return path
    return ""


def sweep(parent: str) -> None:
    """Remove the groups of standbys that were killed."""
    for name in os.listdir(parent):
        pid = name.removeprefix(PREFIX).partition("-")[0] if name.startswith(PREFIX) else ""
        if pid.isdecimal() and not os.path.exists(f"/proc/{pid}"):
            with contextlib.suppress(OSError):
                os.rmdir(os.path.join(parent, name))


def write(path: str, text: str) -> None:
    """Write a value of a group. Raises OSError."""
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def remove(folder: str) -> None:
    """Remove a group, whose processes are gone or about to be."""
    for _ in range(50):
        try:
            os.rmdir(folder)
            return
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(0.002)
