"""Sets the kernel's limits for one process and lowers its priority. The process tree as a whole is supervised from outside."""

from __future__ import annotations

import contextlib
import os
import sys

from .policy import Policy

MOST_PROCESSES_AND_THREADS = 4096


def apply(policy: Policy, counts_separately: bool) -> None:
    """Set the limits. ``counts_separately``: the kernel counts the processes of this run apart from the user's others."""
    if sys.platform == "win32":
        return
    import resource

    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_FSIZE, policy.disk_bytes)
    if policy.cpu_s:
        _lower(resource.RLIMIT_CPU, policy.cpu_s)
    # a GPU driver reserves much more memory than it uses
    if sys.platform == "linux" and policy.memory_bytes and not policy.gpu:
        _lower(resource.RLIMIT_DATA, policy.memory_bytes)
    if counts_separately:
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
