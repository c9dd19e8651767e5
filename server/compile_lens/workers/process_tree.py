"""Ends a process and all that it started (Linux), when it does not do so itself."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from pathlib import Path

ROUNDS = 50


def kill_tree(pid: int) -> None:
    """Kill ``pid``, its process group, and every process below it."""
    if sys.platform == "win32":
        return
    found: set[int] = set()
    if sys.platform == "linux":
        # stopped before they are killed: what forks as fast as it is killed would else go on
        for _ in range(ROUNDS):
            new = _below(pid) - found
            if not new:
                break
            for other in new:
                _send(other, signal.SIGSTOP)
            found |= new
    kill_group(pid)
    for other in (pid, *found):
        _send(other, signal.SIGKILL)


def kill_group(pid: int) -> None:
    """Kill the process group that ``pid`` leads."""
    if sys.platform != "win32":
        with contextlib.suppress(OSError):
            os.killpg(pid, signal.SIGKILL)


def _send(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(OSError):
        os.kill(pid, number)


def _below(pid: int) -> set[int]:
    found: set[int] = set()
    pending = [pid]
    while pending:
        for listed in Path(f"/proc/{pending.pop()}/task").glob("*/children"):
            with contextlib.suppress(OSError, ValueError):
                children = set(map(int, listed.read_text().split())) - found
                found |= children
                pending += children
    return found
