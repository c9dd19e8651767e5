"""Takes variables out of what the kernel shows of this process's beginning (Linux, ``/proc/PID/environ``).

To remove a variable changes none of that: the kernel shows the memory that the process was started with, as it is now.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from collections.abc import Iterable

# numbers of proc_pid_stat(5): what follows the name of the program, and where the variables begin and end
AFTER_NAME, BEGIN, END = 3, 50, 51


def forget(names: Iterable[str]) -> None:
    """Overwrite the values of ``names`` there. They keep their values in ``os.environ`` and for libraries of this process."""
    if sys.platform != "linux":
        return
    wanted = {os.fsencode(name) for name in names}
    with contextlib.suppress(OSError, ValueError, IndexError):
        with open("/proc/self/stat", "rb") as status:
            fields = status.read().rpartition(b")")[2].split()
        start, end = (int(fields[number - AFTER_NAME]) for number in (BEGIN, END))
        if not 0 < start < end:
            return  # the kernel does not tell
        place = start
        for entry in ctypes.string_at(start, end - start).split(b"\0"):
            name, _, value = entry.partition(b"=")
            if name in wanted:
                # it gets a copy of its own, instead of this memory
                if (current := os.environb.get(name)) is not None:
                    os.environb[name] = current
                # no zeros, with which readers take the list to end
                ctypes.memset(place + len(entry) - len(value), ord(" "), len(value))
            place += len(entry) + 1
