"""Measures by how much a run has grown what it may write to on real disks: its caches, its scratch folder, shared memory (Linux)."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator

from .left_folders import entries_below, open_closed, remove_folder
from .shared_files import FOLDER as SHARED_FOLDER
from .socket_memory import passes_files

# what a file or folder takes at least, which a file system reserves when it is made (mke2fs(8), -i)
FILE_BYTES = 4096
# where folders are nested deeper than anything is named
UNCOUNTABLE = sys.maxsize
# what is mapped without a file: memory that processes share, files of memfd_create, System V objects
IN_MEMORY = (b"/dev/zero ", b"/memfd:", b"/SYSV")


class DiskGrowth:
    """By how much ``folders`` have grown, and files that have no name any more on the disks of ``folders`` and ``places``.

    Looks closer only when a disk has much less room than before.
    """

    def __init__(self, folders: tuple[str, ...], places: tuple[str, ...], limit_bytes: int) -> None:
        self._folders = folders
        self._limit = limit_bytes
        self._places = (*folders, *places)
        self._rooms = [_room(place) for place in self._places]
        self._before = sum(map(_made_countable, folders)) if limit_bytes else 0
        # a library that was replaced while this process has it is not the run's
        self._known = {key for key, *_ in _mapped_without_name(os.getpid())} if limit_bytes else set()
        # memory, where it is not among the places
        self._passed_over = IN_MEMORY if SHARED_FOLDER in places else (*IN_MEMORY, os.fsencode(SHARED_FOLDER))

    def bytes(self, tree: Iterable[int], beside: int = 0, sees_all: bool = True) -> int:
        """Bytes that were added, where ``tree`` are the processes of the run; 0 while they can be few
        with the ``beside`` that it has elsewhere, of which ``sees_all`` says whether all of it can be seen."""
        rooms = [_room(place) for place in self._places]
        lost = [
            max(before - now for before, now in zip(*two, strict=True)) for two in zip(self._rooms, rooms, strict=True)
        ]
        if max(lost, default=0) < (self._limit - beside) // 2:
            return 0
        most = self._before + self._limit + 1
        found = [seen_below(folder, most) for folder in self._folders]
        named = max(0, sum(size for size, _ in found) - self._before)
        unnamed, is_all = self._unnamed(tree)
        left = self._limit - beside
        sees_all &= is_all and all(seen for _, seen in found)
        if named + unnamed <= left < max(lost) and (not sees_all or any(map(passes_files, tree))):
            # files that are on their way through a socket, or of which a page is mapped, are in no table that others may read, and
            # those in a folder that is closed in no list
            return max(lost)
        return named + unnamed

    def _unnamed(self, tree: Iterable[int]) -> tuple[int, bool]:
        """Bytes of files that processes have open, mapped, or run, and that are in no folder any more; and whether that is all of them.

        Of a file that is mapped and nothing else, only root may ask for the size: one page of it keeps all of it.
        """
        devices = self._devices()
        found: dict[tuple[int, int], int] = {}
        mapped: dict[tuple[int, int], int] = {}
        for pid in tree:
            links = [f"/proc/{pid}/exe"]
            with contextlib.suppress(OSError):
                links += [f"/proc/{pid}/fd/{descriptor}" for descriptor in os.listdir(f"/proc/{pid}/fd")]
            for key, end, addresses in _mapped_without_name(pid, self._passed_over):
                if key in self._known:
                    continue
                link = f"/proc/{pid}/map_files/{addresses}"
                if _may_be_asked(link):
                    links.append(link)
                else:
                    mapped[key] = max(mapped.get(key, 0), end)
            for link in links:
                with contextlib.suppress(OSError):
                    status = os.stat(link)
                    if status.st_nlink == 0 and status.st_dev in devices:
                        found[status.st_dev, status.st_ino] = status.st_blocks * 512
        # at least as long as what is mapped of them
        more = {key: end for key, end in mapped.items() if key not in found}
        return sum(found.values()) + sum(end for key, end in more.items() if key[0] in devices), not more

    def _devices(self) -> set[int]:
        found = set()
        for place in self._places:
            with contextlib.suppress(OSError):
                found.add(os.stat(place).st_dev)
        return found


def _made_countable(folder: str) -> int:
    """Bytes below a cache, in which an earlier run may have closed folders, or nested them so that nothing in them can be counted: what is
    in there would be the next one's to fill."""
    size, is_all = seen_below(folder)
    if is_all and size != UNCOUNTABLE:
        return size
    open_closed(folder)
    if size_below(folder) == UNCOUNTABLE:
        _empty(folder)
    return size_below(folder)


def _empty(folder: str) -> None:
    """Delete the folders in ``folder``."""
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            if os.path.isdir(path) and not os.path.islink(path):
                remove_folder(path)


def size_below(folder: str, most: int = sys.maxsize) -> int:
    """Bytes below ``folder``, as far as they can be seen."""
    return seen_below(folder, most)[0]


def seen_below(folder: str, most: int = sys.maxsize) -> tuple[int, bool]:
    """Bytes below ``folder``, and whether that is all; more than any limit where folders are nested so that they cannot be counted.

    Looks no further from ``most`` on: a program may put a link to all disks in the place of a folder that is looked into.
    """
    total = 0
    closed: list[str] = []
    try:
        for _, status in entries_below(folder, closed):
            total += max(FILE_BYTES, status.st_blocks * 512)
            if total >= most:
                break
    except RecursionError:
        return UNCOUNTABLE, True
    return total, not closed


def _room(folder: str) -> tuple[int, int]:
    """Bytes for files, and what the files that can still be made would take at least; 0 where any number can be made."""
    with contextlib.suppress(OSError):
        status = os.statvfs(folder)
        return status.f_bfree * status.f_frsize, status.f_ffree * FILE_BYTES
    return 0, 0


def is_in_memory(folder: str) -> bool:
    """Whether the file system of ``folder`` is in memory (proc(5), ``mountinfo``)."""
    with contextlib.suppress(OSError, IndexError), open("/proc/self/mountinfo", "rb") as table:
        device = os.stat(folder).st_dev
        number = f"{os.major(device)}:{os.minor(device)}".encode()
        for line in table:
            left, _, right = line.partition(b" - ")
            if left.split()[2] == number:
                return right.split()[0] == b"tmpfs"
    return False


def _mapped_without_name(pid: int, passed_over: tuple[bytes, ...] = ()) -> Iterator[tuple[tuple[int, int], int, str]]:
    """The files of a process's memory that are in no folder any more: device and inode, where the part ends that is mapped, and at which
    addresses it is."""
    with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/maps", "rb") as maps:
        for line in maps:
            if not line.endswith(b" (deleted)\n"):
                continue
            addresses, _, offset, device, inode, name = line.split(None, 5)
            if name.startswith(passed_over):
                continue
            start, end = (int(address, 16) for address in addresses.split(b"-"))
            key = (os.makedev(*(int(part, 16) for part in device.split(b":"))), int(inode))
            # the name of the link has no zeros before its numbers
            yield key, int(offset, 16) + end - start, f"{start:x}-{end:x}"


def _may_be_asked(link: str) -> bool:
    try:
        os.stat(link)
    except OSError:
        return False
    return True
