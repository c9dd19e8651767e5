"""Counts the processor time of a process and of all that it will start, also of what nobody waits for (Linux, perf_event_open(2)).

The kernel lets ordinary users do so unless ``kernel.perf_event_paranoid`` is above 2, as on Debian and Ubuntu, or a container forbids it.
"""

from __future__ import annotations

import ctypes
import os
import struct

from ..sandbox import kernel

PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}
# struct perf_event_attr in its first version, and what is counted
SIZE, SOFTWARE, TASK_CLOCK = 64, 1, 1
INHERIT, EXCLUDE_KERNEL, EXCLUDE_HYPERVISOR = 1 << 1, 1 << 5, 1 << 6
ANY_PROCESSOR, NO_GROUP, CLOSE_ON_EXEC = -1, -1, 8
NANOSECONDS = 1e9


class TaskClock:
    """Begins to count with this object; processes that were started before are left out."""

    def __init__(self, pid: int) -> None:
        self._descriptor = -1
        number = PERF_EVENT_OPEN.get(os.uname().machine)
        if number is None:
            return
        # a clock counts the time in the kernel, too, though an ordinary user must say that this is left out
        flags = INHERIT | EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR
        attributes = struct.pack("IIQQQQQIIQ", SOFTWARE, SIZE, TASK_CLOCK, 0, 0, 0, flags, 0, 0, 0)
        try:
            self._descriptor = kernel.system_call(
                number,
                ctypes.create_string_buffer(attributes),
                pid,
                ANY_PROCESSOR,
                NO_GROUP,
                ctypes.c_ulong(CLOSE_ON_EXEC),
            )
        except OSError:
            return

    @property
    def counts(self) -> bool:
        """Whether the kernel allows it."""
        return self._descriptor >= 0

    def seconds(self) -> float:
        """What was used up to now; 0 where it is not counted."""
        if not self.counts:
            return 0.0
        (nanoseconds,) = struct.unpack("Q", os.read(self._descriptor, 8))
        return float(nanoseconds) / NANOSECONDS

    def close(self) -> None:
        """Stop counting."""
        if self.counts:
            os.close(self._descriptor)
            self._descriptor = -1
