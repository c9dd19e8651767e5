"""Keeps trials within the memory of the run: one that asks for more fails with an error, and the process is not killed for it."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

# of the run's limit, which is for all of its processes; the rest is for the compiler
SHARE = 0.6
_NO_MEMORY = "DefaultCPUAllocator: can't allocate memory"


@contextlib.contextmanager
def bounded(memory_bytes: int) -> Iterator[None]:
    """Let the process have ``SHARE`` of ``memory_bytes`` inside; 0 is no limit. Without effect where the system has no such limit."""
    before = _data_limit() if memory_bytes and sys.platform == "linux" else None
    if before is None:
        yield
        return
    import resource

    soft, hard = before
    wanted = max(int(memory_bytes * SHARE), _data_now() + memory_bytes // 10)
    allowed = [limit for limit in (wanted, soft, hard) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_DATA, (min(allowed), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def is_of_limit(error: BaseException) -> bool:
    """Whether ``error`` says that there is no memory for what is asked: Python's, or that of torch's allocator
    (c10/core/impl/alloc_cpu.cpp)."""
    return isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and _NO_MEMORY in str(error))


def _data_limit() -> tuple[int, int] | None:
    try:
        import resource
    except ImportError:
        return None
    return resource.getrlimit(resource.RLIMIT_DATA)


def _data_now() -> int:
    """The bytes that the limit counts now (the sixth number of /proc/self/statm is data and stack)."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[5]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        return 0
