"""Kills a process and everything that it started."""

from __future__ import annotations

import contextlib
import os
import signal
import sys

import psutil  # type: ignore[import-untyped]

ROUNDS = 50


def kill_tree(pid: int) -> None:
    """Kill ``pid``, its process group, and every process below it, in whatever session."""
    with contextlib.suppress(psutil.NoSuchProcess):
        root = psutil.Process(pid)
        found: set[psutil.Process] = {root}
        # stopped before they are killed: what forks as fast as it is killed would else go on
        for _ in range(ROUNDS):
            new = set(root.children(recursive=True)) - found
            if not new:
                break
            for process in new:
                with contextlib.suppress(psutil.Error):
                    process.suspend()
            found |= new
        kill_group(pid)
        for process in found:
            with contextlib.suppress(psutil.Error):
                process.kill()


def kill_group(pid: int) -> None:
    """Kill the process group that ``pid`` leads."""
    if sys.platform != "win32":
        with contextlib.suppress(OSError):
            os.killpg(pid, signal.SIGKILL)
