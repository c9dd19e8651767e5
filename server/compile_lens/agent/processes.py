"""Process trees: nothing that a run started may outlive it.

On Linux the standby is a *child subreaper*: whatever a run's process leaves behind becomes its child, and is ended here. Elsewhere the
run's process group is all that can be reached.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import time
from collections.abc import Container

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


def _prctl(option: int, value: int) -> None:
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def become_subreaper() -> None:
    """Let orphans of a run come to this process (Linux)."""
    if sys.platform == "linux":
        _prctl(PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent() -> None:
    """Have the kernel end this process when its parent is gone (Linux)."""
    if sys.platform == "linux":
        _prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL))


def outlive_parent() -> None:
    """Take that back: from here on this process sees its parent's end itself, and puts things in order before its own."""
    if sys.platform == "linux":
        _prctl(PR_SET_PDEATHSIG, 0)


def end_tree(pid: int, limit_s: float = 2.0) -> None:
    """Kill ``pid``, its process group, and every child this process has left, until none is there or ``limit_s`` is over."""
    with contextlib.suppress(OSError):
        os.killpg(pid, signal.SIGKILL)
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGKILL)
    end_orphans(limit_s)


def end_orphans(limit_s: float = 2.0, spared: Container[int] = ()) -> None:
    """Kill and reap every child of this process but those in ``spared``; orphans of theirs arrive here in turn."""
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        children = [child for child in _children() if child not in spared]
        for child in children:
            with contextlib.suppress(OSError):
                os.kill(child, signal.SIGKILL)
        for child in children if spared else [-1]:
            try:
                while os.waitpid(child, os.WNOHANG)[0]:
                    pass
            except ChildProcessError:
                if not spared:
                    return
        if spared and not children:
            return
        time.sleep(0.002)


def _children() -> list[int]:
    me = os.getpid()
    try:
        names = os.listdir("/proc")
    except OSError:
        return []
    return [int(name) for name in names if name.isdigit() and _parent(name) == me]


def _parent(pid: str) -> int:
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            # the name is in parentheses and may hold anything; state and parent follow the last one
            return int(stat.read().rpartition(b")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return -1
