"""Processes that live, and do not let this one see what they have open and mapped (Linux).

Those of a program that may be run and not read belong to root in ``/proc``, as far as it tells of their files and memory (proc(5)). Their
state, their counts and their network are there to read. A run must not count for less than it has by that: what is not seen of it counts
as the worst that it may be.
"""

from __future__ import annotations

import contextlib
import os

from .processes import has_memory


def is_closed(pid: int) -> bool:
    """Whether what process ``pid`` has open is not for this one to see. One that has ended belongs to root, too, and has nothing."""
    try:
        os.scandir(f"/proc/{pid}/fd").close()
    except PermissionError:
        return has_memory(pid)
    except OSError:
        return False
    return False


def root_is_seen(pid: int) -> bool:
    """Whether the files of process ``pid`` can be reached as it sees them."""
    try:
        os.stat(f"/proc/{pid}/root")
    except OSError:
        return False
    return True


def places(pid: int) -> int:
    """For how many descriptors the table of process ``pid`` has places."""
    with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/status", "rb") as status:
        for line in status:
            if line.startswith(b"FDSize:"):
                return int(line.split()[1])
    return 0
