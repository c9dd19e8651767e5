"""Measures by how much a run has grown what it may write to on real disks: its caches, its scratch folder, shared memory (Linux)."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable

from .left_folders import entries_below
from .socket_memory import passes_files

# what a file or folder takes at least, which a file system reserves when it is made (mke2fs(8), -i)
FILE_BYTES = 4096


class DiskGrowth:
    """By how much ``folders`` have grown, and files that have no name any more on the disks of ``folders`` and ``places``.

    Looks closer only when a disk has much less room than before.
    """

    def __init__(self, folders: tuple[str, ...], places: tuple[str, ...], limit_bytes: int) -> None:
        self._folders = folders
        self._limit = limit_bytes
        self._places = (*folders, *places)
        self._rooms = [_room(place) for place in self._places]
        self._before = sum(map(size_below, folders)) if limit_bytes else 0

    def bytes(self, tree: Iterable[int]) -> int:
        """Bytes that were added, where ``tree`` are the processes of the run; 0 while they can be few."""
        rooms = [_room(place) for place in self._places]
        lost = [
            max(before - now for before, now in zip(*two, strict=True)) for two in zip(self._rooms, rooms, strict=True)
        ]
        if max(lost, default=0) < self._limit // 2:
            return 0
        most = self._before + self._limit + 1
        named = max(0, sum(size_below(folder, most) for folder in self._folders) - self._before)
        unnamed = _unnamed(tree, self._devices())
        if named + unnamed <= self._limit < max(lost) and any(map(passes_files, tree)):
            # a file that is on its way through a socket is in no table that others may read
            return max(lost)
        return named + unnamed

    def _devices(self) -> set[int]:
        found = set()
        for place in self._places:
            with contextlib.suppress(OSError):
                found.add(os.stat(place).st_dev)
        return found


def size_below(folder: str, most: int = sys.maxsize) -> int:
    """Bytes below ``folder``; more than any limit where folders are nested so that they cannot be counted.

    Looks no further from ``most`` on: a program may put a link to all disks in the place of a folder that is looked into.
    """
    total = 0
    try:
        for _, status in entries_below(folder):
            total += max(FILE_BYTES, status.st_blocks * 512)
            if total >= most:
                break
    except RecursionError:
        return sys.maxsize
    return total


def _room(folder: str) -> tuple[int, int]:
    """Bytes for files, and what the files that can still be made would take at least; 0 where any number can be made."""
    with contextlib.suppress(OSError):
        status = os.statvfs(folder)
        return status.f_bfree * status.f_frsize, status.f_ffree * FILE_BYTES
    return 0, 0


def _unnamed(tree: Iterable[int], devices: set[int]) -> int:
    """Bytes of files on ``devices`` that processes have open or mapped, and that are in no folder any more."""
    found: dict[tuple[int, int], int] = {}
    for pid in tree:
        with contextlib.suppress(OSError):
            for descriptor in os.listdir(f"/proc/{pid}/fd"):
                with contextlib.suppress(OSError):
                    status = os.stat(f"/proc/{pid}/fd/{descriptor}")
                    if status.st_nlink == 0 and status.st_dev in devices:
                        found[status.st_dev, status.st_ino] = status.st_blocks * 512
        with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/maps", "rb") as maps:
            for line in maps:
                if not line.endswith(b" (deleted)\n"):
                    continue
                addresses, _, offset, device, inode, *_ = line.split()
                key = (os.makedev(*(int(part, 16) for part in device.split(b":"))), int(inode))
                start, end = (int(address, 16) for address in addresses.split(b"-"))
                if key[0] in devices:
                    found[key] = max(found.get(key, 0), int(offset, 16) + end - start)
    return sum(found.values())
