"""Whether this machine has room for a second standby: processors and memory that nothing else needs (Linux)."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

# a standby takes up to half a gigabyte, and a program in it as much as it likes
FREE_BYTES = 4 << 30
MEMORY = Path("/proc/meminfo")


def has_room() -> bool:
    """False where it is not known."""
    if sys.platform != "linux":
        return False
    return len(os.sched_getaffinity(0)) > 1 and _available() >= FREE_BYTES


def _available() -> int:
    with contextlib.suppress(OSError, ValueError):
        for line in MEMORY.read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    return 0
