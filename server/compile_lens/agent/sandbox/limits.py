"""Limits of one process that the kernel keeps, and its place behind what the user does. The tree as a whole is watched from outside."""

from __future__ import annotations

import contextlib
import os
import sys

from .policy import Policy

MOST_PROCESSES_AND_THREADS = 4096


def apply(policy: Policy, counts_alone: bool) -> None:
    """Set the limits. ``counts_alone``: the kernel counts the processes of this run apart from the user's other ones."""
    if sys.platform == "win32":
        return
    import resource

    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_FSIZE, policy.disk_bytes)
    if policy.cpu_s:
        _lower(resource.RLIMIT_CPU, policy.cpu_s)
    # a driver of a GPU reserves much more than it uses
    if sys.platform == "linux" and policy.memory_bytes and not policy.gpu:
        _lower(resource.RLIMIT_DATA, policy.memory_bytes)
    if counts_alone:
        _lower(resource.RLIMIT_NPROC, MOST_PROCESSES_AND_THREADS)
    if policy.niceness:
        with contextlib.suppress(OSError):
            os.nice(policy.niceness)


def _lower(limit: int, value: int) -> None:
    import resource

    with contextlib.suppress(OSError, ValueError):
        hard = resource.getrlimit(limit)[1]
        if hard == resource.RLIM_INFINITY or value < hard:
            resource.setrlimit(limit, (value, value))
