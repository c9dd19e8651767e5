"""Measures what a run's process tree uses, and compares it with the limits (Linux)."""

from __future__ import annotations

import contextlib
import os
import sys
from dataclasses import dataclass

from . import processes
from .left_folders import files_below
from .memory_group import MemoryGroup
from .protocol import SandboxKind, SandboxSpec
from .shared_files import SharedFiles
from .task_group import most_threads

EVERY_S = 0.1
# what a file takes at least, which a file system reserves when it is made (mke2fs(8), -i)
FILE_BYTES = 4096
# of what a socket may hold for others to read, which is in no process
SOCKET_BYTES, LARGEST_IN_SOCKET = 212_992, "/proc/sys/net/core/wmem_max"
MOST_LOOKED_AT = 100_000
# what the kernel keeps for an open file: its entry, its inode, and what belongs to its kind
DESCRIPTOR_BYTES = 1024
TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


@dataclass(frozen=True, slots=True)
class TreeBudget:
    """What a run's whole process tree may use; its scratch folder holds its files while there is no better place.

    ``group`` counts its memory, where there can be one. ``shared`` are files in shared memory, None where the run sees only its own.
    ``caches`` says how much its private caches have grown.
    """

    spec: SandboxSpec
    kind: str
    group: MemoryGroup | None
    shared: SharedFiles | None
    caches: CacheGrowth

    def exceeded(self, child: int) -> str:
        """``memory``, ``processes``, ``cpu`` or ``disk`` if the tree of ``child`` has used up its share; '' if not."""
        tree = list(processes.descendants(os.getpid()))
        if self.shared is not None:
            self.shared.look(set(tree))
        ticks, threads = _ticks_and_threads(tree)
        if self.spec.processes and (len(tree) > self.spec.processes or threads > most_threads(self.spec.processes)):
            return "processes"
        if self.spec.cpu_s and ticks / TICKS > self.spec.cpu_s:
            return "cpu"
        if self.spec.memory_bytes and self._uses_too_much_memory(child, tree):
            return "memory"
        if self.spec.disk_bytes and self._on_disk(set(tree)) + self.caches.bytes() > self.spec.disk_bytes:
            return "disk"
        return ""

    def ended_by_kernel(self) -> bool:
        """Whether the kernel has ended a process because memory was used up."""
        return self.group is not None and self.group.killed()

    def _uses_too_much_memory(self, child: int, tree: list[int]) -> bool:
        held = sum(map(_held_by_kernel, tree))
        if max(held, _in_sockets(tree, self.spec.memory_bytes)) > self.spec.memory_bytes:
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
        total = _size(self.spec.scratch)
        # looking at all processes takes long, and is done where it matters alone
        if self.shared is not None and self.shared.size() + total > self.spec.disk_bytes:
            total += sum(self.shared.of_run(tree).values())
        return total


class CacheGrowth:
    """By how much ``folders`` have grown. Looks through them only when their disk has much less room than before."""

    def __init__(self, folders: tuple[str, ...], limit_bytes: int) -> None:
        self._folders = folders
        self._room = _room(folders)
        self._enough = limit_bytes // 2
        self._before = sum(map(_size, folders)) if limit_bytes else 0

    def bytes(self) -> int:
        """Bytes that were added; 0 while they can be few."""
        if all(before - now < self._enough for before, now in zip(self._room, _room(self._folders), strict=True)):
            return 0
        return max(0, sum(map(_size, self._folders)) - self._before)


def _room(folders: tuple[str, ...]) -> tuple[int, int]:
    """Bytes for files, and what the files that can still be made would take at least; 0 where any number can be made."""
    with contextlib.suppress(OSError, IndexError):
        status = os.statvfs(folders[0])
        return status.f_bfree * status.f_frsize, status.f_ffree * FILE_BYTES
    return 0, 0


def _used_below(folder: str) -> int:
    """Bytes in the file system that is mounted on ``folder``; 0 where none is, or it is out of sight."""
    try:
        if os.stat(folder).st_dev == os.stat(os.path.join(folder, os.pardir)).st_dev:
            return 0
        status = os.statvfs(folder)
    except OSError:
        return 0
    return (status.f_blocks - status.f_bfree) * status.f_frsize


def _ticks_and_threads(tree: list[int]) -> tuple[int, int]:
    """Processor time and threads of processes."""
    ticks = threads = 0
    for pid in tree:
        with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/stat", "rb") as stat:
            fields = stat.read().rpartition(b")")[2].split()
            ticks += sum(map(int, fields[11:15]))  # its own, and that of children it has waited for
            threads += int(fields[17])
    return ticks, threads


def _in_sockets(tree: list[int], enough: int) -> int:
    """Bytes that sockets may hold; 0 where there are so few descriptors that it cannot be more than ``enough``."""
    each, count = _bytes_of_a_socket(), sum(map(_descriptors, tree))
    if each * count <= enough:
        return 0
    # to look at each takes long: of too many, all count
    if count > MOST_LOOKED_AT:
        return each * count
    found = 0
    for pid in tree:
        with contextlib.suppress(OSError):
            for entry in os.scandir(f"/proc/{pid}/fd"):
                with contextlib.suppress(OSError):
                    found += os.readlink(entry.path).startswith("socket:")
    return each * found


def _bytes_of_a_socket() -> int:
    with contextlib.suppress(OSError, ValueError), open(LARGEST_IN_SOCKET, encoding="ascii") as file:
        return int(file.read())
    return SOCKET_BYTES


def _descriptors(pid: int) -> int:
    with contextlib.suppress(OSError):
        # since Linux 6.2 the size is their number
        return os.stat(f"/proc/{pid}/fd").st_size or len(os.listdir(f"/proc/{pid}/fd"))
    return 0


def _held_by_kernel(pid: int) -> int:
    """Bytes of the kernel's that a process takes beside its memory: page tables, and what is open."""
    tables = 0
    with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/status", "rb") as status:
        for line in status:
            if line.startswith(b"VmPTE:"):
                tables = int(line.split()[1]) * 1024
                break
    return tables + DESCRIPTOR_BYTES * _descriptors(pid)


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
    """Bytes below ``folder``; more than any limit where folders are nested so that they cannot be counted."""
    try:
        return sum(max(FILE_BYTES, status.st_blocks * 512) for _, status in files_below(folder))
    except RecursionError:
        return sys.maxsize
