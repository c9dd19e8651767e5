"""Ties what is started to this process: where the kernel can, it ends with this one, even if it was stopped before its first line.

A program that asks for that itself does so after its interpreter has started, which takes as long as the user's environment likes
(`.pth` files, ``sitecustomize``). So it is asked between fork and exec.
"""

from __future__ import annotations

import ctypes
import functools
import os
import signal
import sys
from typing import Any

PR_SET_PDEATHSIG = 1


def tied(*, new_session: bool = False) -> dict[str, Any]:
    """Arguments for ``subprocess`` and ``asyncio``. The tie is to the *thread* that starts the process, so that one must live on."""
    prctl = _prctl()
    if prctl is None:
        return {"start_new_session": new_session}
    return {"preexec_fn": functools.partial(_tie, prctl, os.getpid(), new_session)}


@functools.cache
def _prctl() -> Any:
    """Found before the fork, after which nothing may be imported: another thread may have held a lock. None where there is none."""
    if sys.platform != "linux":
        return None
    try:
        return ctypes.CDLL(None).prctl
    except (OSError, AttributeError):
        return None


def _tie(prctl: Any, parent: int, new_session: bool) -> None:
    prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)  # it had ended before it was asked
    if new_session:
        os.setsid()
