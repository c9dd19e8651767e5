"""Measures what a run's process tree uses, and compares it with the limits (Linux)."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, field

from ..sandbox.namespaces import MAX_FILES
from . import processes
from .closed_processes import is_closed, root_is_seen
from .disk_growth import IN_MEMORY, DiskGrowth, is_in_memory, seen_below, size_below
from .ended_first import EndedFirst
from .machine_memory import MachineMemory
from .memory_files import bytes_open
from .memory_group import MemoryGroup
from .processor_time import ProcessorTime
from .protocol import SHARED_IN_SCRATCH, SandboxKind, SandboxSpec
from .session_niceness import lower_new_sessions
from .shared_files import FOLDER, NOTHING, SharedFiles
from .socket_memory import FlyingSockets, descriptors, in_connections, in_sockets, passes_files
from .task_clock import TaskClock
from .task_group import most_threads

EVERY_S = 0.1
# what the kernel keeps for an open file: its entry, its inode, and what belongs to its kind
DESCRIPTOR_BYTES = 1024
# its place in the table of its process, which is as large as the highest number that was open
PLACE_BYTES = 8
# of a file in memory: its inode, its name and its lists of access rights, which the filter keeps short (sandbox/syscall_filter.py)
FILE_IN_MEMORY_BYTES = 4096
SHARED_MAPPINGS = (*IN_MEMORY, os.fsencode(FOLDER))


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
    machine: MachineMemory = field(default_factory=MachineMemory)
    ended_first: EndedFirst = field(default_factory=EndedFirst)

    def exceeded(self, child: int) -> str:
        """``memory``, ``processes``, ``cpu`` or ``disk`` if the tree of ``child`` has used up its share; ``machine`` if memory runs low for
        all programs by what no count of the tree shows; ``order`` if it keeps the kernel from ending it first then; '' if not."""
        tree = list(processes.tree_of_run())
        lower_new_sessions(tree, self.spec.niceness)
        seconds, threads = self.time.look(tree)
        # a process says what it has only by a thread that lives
        tree, child = list(map(processes.speaking, tree)), processes.speaking(child)
        if self.shared is not None:
            self.shared.look(set(tree))
        if self.spec.processes and (len(tree) > self.spec.processes or threads > most_threads(self.spec.processes)):
            return "processes"
        if self.spec.cpu_s and max(seconds, self._counted_by_kernel()) > self.spec.cpu_s:
            return "cpu"
        if self.spec.memory_bytes and self._uses_too_much_memory(child, tree):
            return "memory"
        if self.spec.memory_bytes and self.machine.runs_low(lambda: self._counted(child, tree)):
            return "machine"
        if self.ended_first.is_undone(tree):
            return "order"
        if self.spec.disk_bytes and self._takes_too_much_disk(child, tree):
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
        held = self._held(child, tree)
        # in a network of its own, all connections are of this run
        connected = in_connections(child) if self.kind == SandboxKind.OVERLAY.value and not self.spec.network else 0
        limit = self.spec.memory_bytes
        if max(held + connected, in_sockets(tree, limit), self.flying.bytes(tree, child, limit)) > limit:
            return True
        if self.group is None or not self.group.holds(child):
            return self._maps_too_much(child, tree, held)
        own, shared = self.group.used()
        own += held
        if own + shared <= self.spec.memory_bytes:
            return self.group.killed()
        # files in memory have a limit of their own
        return own + max(0, shared - self._in_memory(child, tree)) > self.spec.memory_bytes

    def _maps_too_much(self, child: int, tree: list[int], held: int) -> bool:
        limit, more = self.spec.memory_bytes - held, self.machine.shared_since()
        # what processes share is counted once for each: only what looks like too much is measured
        if sum(map(_resident, tree)) + more <= limit:
            return False
        private, shared = _proportional(tree)
        if private + shared > limit:
            return True
        if private + more <= limit:
            return False
        # memory that processes share stays while a page of it is mapped, also what none of them has touched since; and a file in memory
        # while it is on its way from one to another, which only a run with GPUs can make without the kernel's count (sandbox/enter.py)
        if not any(map(_shares_without_file, tree)) and not (self.spec.gpu and any(map(passes_files, tree))):
            return private + shared + bytes_open(tree) > limit
        return private + self.machine.shared_here_since() - self._in_memory(child, tree) > limit

    def _held(self, child: int, tree: list[int]) -> int:
        """Bytes of the kernel's that belong to the run beside its memory."""
        files = self.shared.names if self.shared is not None else 0
        if self.kind == SandboxKind.OVERLAY.value:
            seen = self._file_systems(child, tree)
            files = MAX_FILES if seen is None else sum(count for _, count in seen)
        return sum(map(held_by_kernel, tree)) + files * FILE_IN_MEMORY_BYTES

    def _counted(self, child: int, tree: list[int]) -> int:
        """Bytes that the run is known to take of the machine's memory, with its files in memory."""
        held = self._held(child, tree)
        if self.group is not None and self.group.holds(child):
            return held + sum(self.group.used())
        private, shared = _proportional(tree, with_files=False)
        return held + private + max(shared, self._in_memory(child, tree))

    def _in_memory(self, child: int, tree: list[int]) -> int:
        """Bytes of the run's files that are known to be in memory."""
        if self.kind == SandboxKind.OVERLAY.value:
            return sum(used for used, _ in self._file_systems(child, tree) or ())
        listed = sum(self.shared.of_run(set(tree)).values()) if self.shared is not None else 0
        return listed + (size_below(self.spec.scratch) if is_in_memory(self.spec.scratch) else 0)

    def _file_systems(self, child: int, tree: list[int]) -> list[tuple[int, int]] | None:
        """Bytes and files in each file system in memory that only this run has (sandbox/namespaces.py); None where none of its processes
        lets itself be looked into. All see the same."""
        seen = next(filter(root_is_seen, (child, *tree)), None)
        if seen is None:
            return None if any(map(is_closed, tree)) else []
        scratch = f"/proc/{seen}/root{self.spec.scratch}"
        # on disk, as this process sees it, the folder is no file system of the run's
        return [_used_below(scratch, self.spec.scratch), _used_below(f"{scratch}/{SHARED_IN_SCRATCH}", scratch)]

    def _takes_too_much_disk(self, child: int, tree: list[int]) -> bool:
        """Whether its files, wherever they are, take more together than its limit."""
        total, sees_all = seen_below(self.spec.scratch)
        if self.kind == SandboxKind.OVERLAY.value:
            seen = self._file_systems(child, tree)
            total += self.spec.disk_bytes if seen is None else sum(used for used, _ in seen)
        shared = self.shared.look_at_sizes() if self.shared is not None else NOTHING
        if self.shared is not None and self.shared.names > MAX_FILES and len(self.shared.of_run(set(tree))) > MAX_FILES:
            return True  # as with copies in memory, which have room for no more
        total += self.growth.bytes(tree, total + shared.bytes, sees_all and shared.is_all)
        # looking at all processes takes long, and is done where it matters alone
        if self.shared is not None and shared.bytes + total > self.spec.disk_bytes:
            total += sum(self.shared.of_run(set(tree)).values())
        return total > self.spec.disk_bytes


def _used_below(folder: str, other: str) -> tuple[int, int]:
    """Bytes and files in the file system of ``folder``; none where it is that of ``other``, too, or out of sight."""
    try:
        if os.stat(folder).st_dev == os.stat(other).st_dev:
            return 0, 0
        status = os.statvfs(folder)
    except OSError:
        return 0, 0
    return (status.f_blocks - status.f_bfree) * status.f_frsize, status.f_files - status.f_ffree


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


def _proportional(tree: list[int], with_files: bool = True) -> tuple[int, int]:
    """Bytes that processes have mapped for themselves, and that they share without a file, each divided among those that have them.

    ``with_files``: files count as their own; the kernel takes their memory back when it is needed.
    """
    private = shared = 0
    for pid in tree:
        found: dict[bytes, int] = {}
        with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/smaps_rollup", "rb") as memory:
            for line in memory:
                if line.startswith(b"Pss"):
                    name, size, *_ = line.split()
                    found[name] = int(size) * 1024
        if b"Pss:" not in found:
            private += _resident(pid)
            continue
        # Linux 5.4 tells what it is made of
        of_process = found.get(b"Pss_Shmem:", 0)
        shared += of_process
        private += found[b"Pss:"] - of_process if with_files or b"Pss_Anon:" not in found else found[b"Pss_Anon:"]
    return private, shared


def _shares_without_file(pid: int) -> bool:
    """Whether a process has memory mapped that is shared and that no folder shows, or may have it, as far as is known."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/maps", "rb") as maps:
        return any(
            line.endswith(b" (deleted)\n") and line.split(None, 5)[5].startswith(SHARED_MAPPINGS) for line in maps
        )
    return is_closed(pid)
