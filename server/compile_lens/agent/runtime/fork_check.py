"""Whether a child of this process can do all that a fresh process can."""

from __future__ import annotations

import os
import sys
import threading
import time


def can_fork() -> bool:
    """Whether a child of this process can do all that a fresh process can: no threads here, and no GPU touched."""
    return not why_not_fork()


def why_not_fork() -> str:
    """What stands against forking the steps from this process, in a few words; '' for nothing."""
    if sys.platform != "linux":
        return f"{sys.platform} cannot fork a process safely"
    if threading.active_count() != 1:
        return f"threads: {', '.join(thread.name for thread in threading.enumerate())}"
    if _threads() > 1:
        return f"{_threads()} threads that libraries started"
    pid = os.fork()
    if pid == 0:
        bad = 1
        try:
            import torch

            in_bad_fork = getattr(torch._C, "_cuda_isInBadFork", None)
            bad = int(bool(in_bad_fork is not None and in_bad_fork()))
        finally:
            os._exit(bad)
    _, status = os.waitpid(pid, 0)
    return "a GPU was touched when torch was imported" if status else ""


def _threads() -> int:
    """The threads of this process; those of a pool that is being stopped for a fork are given a moment."""
    for _ in range(50):
        count = len(os.listdir("/proc/self/task"))
        if count == 1:
            break
        time.sleep(0.01)
    return count
