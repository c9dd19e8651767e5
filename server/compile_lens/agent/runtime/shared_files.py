"""Finds shared memory that a run has left in ``/dev/shm``, which only a mount namespace would keep from others (Linux)."""

from __future__ import annotations

import contextlib
import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .left_folders import delete_one, entries_below

FOLDER = "/dev/shm"
# what torch, Python's multiprocessing and C libraries name theirs
OF_LIBRARIES = re.compile(r"torch_\d+_|psm_|sem\.|mp-|pym-|nccl-|__KMP_")
# the kernel keeps a name and a node for each file, link and folder, also for one that is empty: what they count for at least
NAME_BYTES = 4096


@dataclass(frozen=True)
class NewFiles:
    """What is new in shared memory; ``is_all``: nothing of it is in a folder that is closed."""

    bytes: int = 0
    is_all: bool = True


NOTHING = NewFiles()
# from there on it is worth looking everywhere
MUCH = 1 << 24
# the answer of a run does not wait longer for the removal of what it has left
REMOVAL_S = 2.0
# in place of folders that are nested too deep to be looked into
DEEP = ""


class SharedFiles:
    """What was there before the run, in folders, too."""

    def __init__(self) -> None:
        # sizes by what tells a file, in few bytes: folders of data may hold very many
        self._before: dict[int, int] = {}
        with contextlib.suppress(RecursionError):
            for path, status in entries_below(FOLDER):
                self._before[hash((path, status.st_ino))] = status.st_blocks * 512
        self._names_before = len(os.listdir(FOLDER)) if os.path.isdir(FOLDER) else 0
        self._room = _room()
        self._of_run: set[tuple[int, int]] = set()
        # how many files, links and folders were new at the last look, whoever made them
        self.names = 0

    def look(self, tree: set[int]) -> None:
        """Remember which new files the processes ``tree`` use now."""
        found = self._new()
        self.names = len(found)
        new = {key for key, _ in found.values()}
        if not new <= self._of_run:
            self._of_run |= new & _in_use_by(tree)

    def look_at_sizes(self) -> NewFiles:
        """What has been added since, whoever added it."""
        closed: list[str] = []
        new = self._new(closed)
        size = sum(size for _, size in new.values())
        # what names alone count for takes no room
        if self._room - _room() > size - NAME_BYTES * len(new) + MUCH:  # to what was there before
            closed.clear()
            size = sum(size for _, size in self._new(closed, in_others=True).values())
        return NewFiles(size, not any(map(_may_be_of_run, closed)))

    def of_run(self, tree: set[int]) -> dict[str, int]:
        """The paths of what was added, and its size: of files that no process outside ``tree`` uses, or that the run was seen to use. Two
        runs may use each other's."""
        new = self._new(in_others=self._room - _room() > MUCH)
        if not new:
            return {}
        elsewhere = _in_use(tree) - self._of_run
        return {path: size for path, (key, size) in new.items() if key not in elsewhere}

    def remove_left(self, seconds: float = REMOVAL_S, clock: Callable[[], float] = time.monotonic) -> int:
        """Delete what the run has left: files that it was seen to use, or that are named as libraries do, if no process uses them now.

        Whoever shares memory keeps it open or mapped. Anything else may be the user's, put there meanwhile. No link is followed: another
        run may put one in the place of a folder. Of very many, what takes more than ``seconds`` stays: how many names, about.
        """
        deadline, in_use = clock() + seconds, _in_use(set())
        for path, status in self._entries([], in_others=False):
            if clock() > deadline:
                return self._count_new_at_top()
            key = (status.st_dev, status.st_ino)
            if status.st_uid != os.geteuid() or not self._is_new(path, status.st_ino) or key in in_use:
                continue
            if key in self._of_run or OF_LIBRARIES.match(os.path.basename(path)):
                delete_one(FOLDER, os.path.relpath(path, FOLDER), key, self._is_new)
        return 0

    def _count_new_at_top(self) -> int:
        """Of names alone, which takes no look at each file; at least one."""
        return max(1, len(os.listdir(FOLDER)) - self._names_before)

    def _new(self, closed: list[str] | None = None, in_others: bool = False) -> dict[str, tuple[tuple[int, int], int]]:
        """Device, inode and size of each new file and folder by its path. ``in_others``: also by how much those have grown that were there
        before, and what is new in their folders. Of several names of one file, each has a size, and the first that of the file."""
        found: dict[str, tuple[tuple[int, int], int]] = {}
        sized: set[tuple[int, int]] = set()
        for path, status in self._entries(closed if closed is not None else [], in_others):
            before = self._before.get(hash((path, status.st_ino)))
            if status.st_uid != os.geteuid():
                continue
            key, size = (status.st_dev, status.st_ino), status.st_blocks * 512
            if before is None:
                found[path] = (key, NAME_BYTES if key in sized else max(NAME_BYTES, size))
                sized.add(key)
            elif in_others and size > before:
                found[path] = (key, size - before)
        return found

    def _is_new(self, path: str, inode: int) -> bool:
        return hash((path, inode)) not in self._before

    def _entries(self, closed: list[str], in_others: bool) -> Iterator[tuple[str, os.stat_result]]:
        try:
            for name in os.listdir(FOLDER):
                path = os.path.join(FOLDER, name)
                with contextlib.suppress(OSError):
                    status = os.lstat(path)
                    yield path, status
                    if stat.S_ISDIR(status.st_mode) and (in_others or self._is_new(path, status.st_ino)):
                        yield from entries_below(path, closed)
        except RecursionError:
            closed.append(DEEP)


def _room() -> int:
    """Bytes that are free."""
    try:
        status = os.statvfs(FOLDER)
    except OSError:
        return 0
    return status.f_bfree * status.f_frsize


def _may_be_of_run(folder: str) -> bool:
    """Whether the user of this process has closed ``folder``; others have theirs in shared memory, too."""
    try:
        return os.lstat(folder).st_uid == os.geteuid()
    except OSError:
        return True


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
