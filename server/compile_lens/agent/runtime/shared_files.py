"""Finds shared memory that a run has left in ``/dev/shm``, which only a mount namespace would keep from others (Linux)."""

from __future__ import annotations

import contextlib
import os
import re

FOLDER = "/dev/shm"
# what torch, Python's multiprocessing and C libraries name theirs
OF_LIBRARIES = re.compile(r"torch_\d+_|psm_|sem\.|mp-|pym-|nccl-|__KMP_")


class SharedFiles:
    """What was there before the run."""

    def __init__(self) -> None:
        self._before = set(_listed())
        self._of_run: set[tuple[int, int]] = set()

    def look(self, tree: set[int]) -> None:
        """Remember which new files the processes ``tree`` use now."""
        new = {key for key, _ in self._new().values()}
        if not new <= self._of_run:
            self._of_run |= new & _in_use_by(tree)

    def size(self) -> int:
        """Bytes of the files that are new since, whoever made them."""
        return sum(size for _, size in self._new().values())

    def of_run(self, tree: set[int]) -> dict[str, int]:
        """The paths and sizes of new files that no process outside ``tree`` uses."""
        new = self._new()
        if not new:
            return {}
        elsewhere = _in_use(tree)
        return {path: size for path, (key, size) in new.items() if key not in elsewhere}

    def remove_left(self) -> None:
        """Delete what the run has left: files that it was seen to use, or that are named as libraries do, if no process uses them now.

        Whoever shares memory keeps it open or mapped. Anything else may be the user's, put there meanwhile.
        """
        keys = {path: key for path, (key, _) in self._new().items()}
        for path in self.of_run(set()):
            if keys.get(path) in self._of_run or OF_LIBRARIES.match(os.path.basename(path)):
                with contextlib.suppress(OSError):
                    os.unlink(path)

    def _new(self) -> dict[str, tuple[tuple[int, int], int]]:
        found = {}
        for name, inode in set(_listed()) - self._before:
            path = os.path.join(FOLDER, name)
            with contextlib.suppress(OSError):
                status = os.lstat(path)
                if status.st_uid == os.geteuid() and status.st_ino == inode:
                    found[path] = ((status.st_dev, inode), status.st_blocks * 512)
        return found


def _listed() -> list[tuple[str, int]]:
    try:
        return [(entry.name, entry.inode()) for entry in os.scandir(FOLDER)]
    except OSError:
        return []


def _in_use(spared: set[int]) -> set[tuple[int, int]]:
    """Device and inode of the files in ``FOLDER`` that processes but ``spared`` have open or mapped, as far as this one may look."""
    return _in_use_by(set(map(int, filter(str.isdecimal, os.listdir("/proc")))) - spared)


def _in_use_by(processes: set[int]) -> set[tuple[int, int]]:
    found: set[tuple[int, int]] = set()
    for pid in processes:
        with contextlib.suppress(OSError):
            for descriptor in os.listdir(f"/proc/{pid}/fd"):
                link = f"/proc/{pid}/fd/{descriptor}"
                with contextlib.suppress(OSError):
                    if os.readlink(link).startswith(FOLDER):
                        status = os.stat(link)
                        found.add((status.st_dev, status.st_ino))
        with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/maps", "rb") as maps:
            for line in maps:
                if FOLDER.encode() in line:
                    _, _, _, device, inode, *_ = line.split()
                    major, minor = (int(part, 16) for part in device.split(b":"))
                    found.add((os.makedev(major, minor), int(inode)))
    return found
