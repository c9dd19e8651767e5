"""Takes from a run what the standby, outside of the sandbox, has opened: through an open file or folder, the machine's own is changed.

Libraries open logs where the user's variables say so as they are imported (``TORCH_LOGS_OUT``, ``TORCH_TRACE``), and a run is a fork.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Collection

# the standard streams are pipes of ours, or are replaced by themselves
FIRST = 3
LISTED = "/dev/fd"


def take_away(kept: Collection[int]) -> None:
    """Put the null device in the place of descriptors that lead to files which may be written, to folders and to sockets, but ``kept``.

    Whoever writes to one of them goes on, and what is written is discarded, as are other writes of a run.
    """
    if sys.platform == "win32":  # what is inherited there, whoever starts a process says
        return
    nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    try:
        for name in os.listdir(LISTED):
            with contextlib.suppress(OSError):  # that of the list itself
                descriptor = int(name)
                if descriptor >= FIRST and descriptor not in (*kept, nothing) and _leads_out(descriptor):
                    os.dup2(nothing, descriptor, inheritable=os.get_inheritable(descriptor))
    finally:
        os.close(nothing)


def _leads_out(descriptor: int) -> bool:
    import fcntl

    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY
    return stat.S_ISDIR(mode) or stat.S_ISSOCK(mode)
