"""Keeps sessions of a low priority, which a kernel that groups processes by session weighs against those of the user (Linux).

Such a kernel heeds what ``nice`` says only within a session: sched(7), "The autogroup feature". Whoever begins a session of its own begins
with the priority of all others, beside the editor. A kernel without the feature has nothing to read or set here.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable


def set_session_niceness(niceness: int) -> None:
    """Set that of this process's whole session, if that is its own."""
    if sys.platform == "linux" and os.getsid(0) == os.getpid():
        with contextlib.suppress(OSError):
            _write(os.getpid(), niceness)


def lower_new_sessions(tree: Iterable[int], niceness: int) -> None:
    """Give the sessions that processes of ``tree`` have begun ``niceness``, where they have less.

    An ordinary user may set one every tenth of a second (kernel/sched/autogroup.c): which are left over has its turn at a later look.
    """
    if not niceness:
        return
    looked_at = {os.getsid(0)}
    for pid in tree:
        with contextlib.suppress(OSError, ValueError):
            session = os.getsid(pid)
            if session in looked_at:
                continue
            looked_at.add(session)
            if _read(pid) < niceness:
                _write(pid, niceness)


def _read(pid: int) -> int:
    """What the file says after the name of the group: ``/autogroup-5 nice 0``. Raises OSError and ValueError."""
    with open(f"/proc/{pid}/autogroup", encoding="ascii") as group:
        return int(group.read().rpartition(" ")[2])


def _write(pid: int, niceness: int) -> None:
    with open(f"/proc/{pid}/autogroup", "w", encoding="ascii") as group:
        group.write(str(niceness))
