"""Whether a forked child of this process can do all that a fresh process can."""

from __future__ import annotations

import os
import sys
import threading
import time

from ..torch_internals.cuda import IS_IN_BAD_FORK
from . import processes


def why_not_fork(native_threads: int = 1) -> str:
    """Why this process cannot be forked safely, in a few words; '' if it can. Up to ``native_threads`` threads are harmless."""
    if sys.platform != "linux":
        return f"{sys.platform} cannot fork a process safely"
    if threading.active_count() != 1:
        return f"threads: {', '.join(thread.name for thread in threading.enumerate())}"
    if (count := count_threads()) > native_threads:
        return f"libraries started threads ({count})"
    import torch

    return "CUDA is initialized" if torch.cuda.is_initialized() else ""


def why_not_fork_steps() -> str:
    """The same for the steps of a search, which also use a GPU: a trial child finds out whether CUDA works after a fork."""
    _wait_for_thread_pools()
    reason = why_not_fork()
    if reason:
        return reason
    return "importing torch initialized CUDA" if loses_gpu() else ""


def loses_gpu() -> bool:
    """Whether a forked child of this process cannot use a GPU: also a query for devices leaves it so. A trial child finds out."""
    pid = processes.fork()
    if pid == 0:
        bad = 1
        try:
            is_in_bad_fork = IS_IN_BAD_FORK.look_up()
            bad = int(bool(is_in_bad_fork is not None and is_in_bad_fork()))
        finally:
            os._exit(bad)
    _, status = os.waitpid(pid, 0)
    return bool(status)


def count_threads() -> int:
    """The threads of this process, those of libraries included (Linux)."""
    return len(os.listdir("/proc/self/task"))


def _wait_for_thread_pools() -> None:
    """Give a thread pool that is being stopped for a fork a moment to end."""
    for _ in range(50 if sys.platform == "linux" else 0):
        if count_threads() == 1:
            return
        time.sleep(0.01)
