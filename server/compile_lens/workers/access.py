"""How much of the machine a program gets: nothing, a sandbox with limits, or what the user's own shell has."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from enum import Enum

from compile_lens.agent.runtime.protocol import SandboxKind

GIB = 1 << 30


class Access(str, Enum):
    """What ``Host`` may do for a job."""

    NONE = "none"  # nothing runs: the workspace is not trusted, or the user has not agreed
    SANDBOXED = "sandboxed"  # in the sandbox, within the budget
    FULL = "full"  # as in the user's own shell; for an explicit command only


def no_sandbox(why: str) -> str:
    """What to tell the user when a sandbox could not be entered."""
    return f"Nothing was run: the sandbox could not be set up ({why})."


@dataclass(frozen=True, slots=True)
class SandboxOptions:
    """What a run in the sandbox may do besides reading. ``allow_write`` are paths that it may change for good."""

    allow_write: tuple[str, ...] = ()
    network: bool = False
    gpu: bool = False
    niceness: int = 10
    strongest: SandboxKind = SandboxKind.OVERLAY


@dataclass(frozen=True, slots=True)
class ResourceLimits:
    """What a run in the sandbox may use, its processes together.

    ``memory_gib``: 0 for half of the machine's. ``cpu_s``: 0 for half of what all its cores can do in the run's time.
    ``disk_gib`` is also the largest file. ``idle_s``: seconds without anything being compiled after which the run is ended, 0 for
    never. ``output_bytes`` counts what it prints. ``share`` is the part of memory, and of files, which may be in memory, that it gets
    while others run beside it.
    """

    memory_gib: float = 0.0
    cpu_s: float = 0.0
    disk_gib: float = 4.0
    processes: int = 512
    output_bytes: int = 1 << 28
    idle_s: float = 0.0
    share: float = 1.0

    def memory_bytes(self) -> int:
        """The limit for memory; 0 where the machine does not say how much it has."""
        return int((int(self.memory_gib * GIB) or _machine_memory() // 2) * self.share)

    def disk_bytes(self) -> int:
        """The limit for files, which may be kept in memory: never more than a quarter of that."""
        wanted, memory = int(self.disk_gib * GIB), _machine_memory()
        return int((min(wanted, memory // 4) if memory else wanted) * self.share)

    def cpu_seconds(self, timeout_s: float) -> int:
        """The limit for processor time, in seconds."""
        return math.ceil(self.cpu_s or timeout_s * max(1.0, (os.cpu_count() or 1) / 2))


def _machine_memory() -> int:
    """Bytes; 0 where the platform does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 0
