"""What a path or a descriptor stands for, whatever it is called."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Iterator

F_GETPATH = 50  # fcntl(2) of macOS; Python 3.10 has no name for it
DESCRIPTORS = "/proc/self/fd" if sys.platform == "linux" else "/dev/fd"


def special() -> tuple[str, ...]:
    """Files that are none: devices, and what the kernel shows of this process."""
    return ("/dev", f"/proc/{os.getpid()}") if os.name == "posix" else ()


def identities(path: str) -> Iterator[tuple[int, int]]:
    """What a file and the folders around it are, whatever they are called."""
    while True:
        with contextlib.suppress(OSError):  # it may be about to be made
            yield identity(path)
        path, before = os.path.dirname(path), path
        if path == before:
            return


def identity(path: str) -> tuple[int, int]:
    """What a file or folder is. Raises OSError where there is none."""
    status = os.stat(path)
    return status.st_dev, status.st_ino


def open_folders() -> list[int]:
    """Descriptors of folders that this process has open."""
    found = []
    for name in os.listdir(DESCRIPTORS):
        with contextlib.suppress(OSError):  # that of the list itself
            if stat.S_ISDIR(os.fstat(int(name)).st_mode):
                found.append(int(name))
    return found


def is_open(descriptor: int) -> bool:
    """Whether a call that is given ``descriptor`` finds anything there."""
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def path_of(descriptor: int) -> str | None:
    """The path of an open file or folder; None for what has none, or where the system does not tell."""
    if sys.platform == "linux":
        path = os.readlink(f"/proc/self/fd/{descriptor}")
    elif sys.platform == "darwin":
        import fcntl

        if not stat.S_ISREG(mode := os.fstat(descriptor).st_mode) and not stat.S_ISDIR(mode):
            return None
        path = os.fsdecode(fcntl.fcntl(descriptor, F_GETPATH, bytes(1024)).rstrip(b"\0"))
    else:
        return None
    # a pipe, a file in memory, or one that is deleted
    return path if os.path.isabs(path) and os.path.exists(path) else None
