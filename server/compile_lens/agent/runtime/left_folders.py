"""Deletes and measures folders that a program has filled, however deep, and whatever modes it gave them.

Server and agent use it: it needs the standard library alone.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import sys
import time
from collections.abc import Callable, Iterator

# nobody nests folders so deep but to have them overlooked, and paths have no room for many more
MAX_DEPTH = 1700
# compilers nest few, and each that is looked into is open
MAX_COMPILED_DEPTH = 60


class _OutOfTime(Exception):
    """What is left waits for the next call."""


class _Deadline:
    def __init__(self, seconds: float | None, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._ends = clock() + seconds if seconds is not None else None

    def names_in(self, folder: int) -> Iterator[str]:
        """What is in an open folder, up to the end: of very many, the first are known at once."""
        if self._ends is None:
            yield from os.listdir(folder)
            return
        with os.scandir(folder) as entries:
            for entry in entries:
                yield entry.name
                self.check()

    def check(self) -> None:
        """Raises _OutOfTime."""
        if self._ends is not None and self._clock() > self._ends:
            raise _OutOfTime


def remove_folder(folder: str, seconds: float | None = None, clock: Callable[[], float] = time.monotonic) -> bool:
    """Delete ``folder``, in which no process works any more; False if that takes more than ``seconds``, and some is left for the next call.
    What cannot be deleted stays; nothing outside is touched."""
    if os.path.islink(folder):
        with contextlib.suppress(OSError):
            os.unlink(folder)
    elif sys.platform == "win32" or not os.path.isdir(folder):
        shutil.rmtree(folder, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            top = _open_folder(folder)
            try:
                _empty(top, _Deadline(seconds, clock))
            except _OutOfTime:
                return False
            finally:
                os.close(top)
            os.rmdir(folder)
    return True


def _open_folder(name: str, around: int | None = None) -> int:
    """A folder (in ``around``), which its mode may forbid. Raises OSError for a link, also for one that has just taken its place."""
    no_links = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(name, os.O_RDONLY | no_links, dir_fd=around)
    except PermissionError:
        if sys.platform != "linux":
            os.chmod(name, stat.S_IRWXU, dir_fd=around, follow_symlinks=False)
            return os.open(name, os.O_RDONLY | no_links, dir_fd=around)
    handle = os.open(name, os.O_PATH | no_links, dir_fd=around)
    try:
        os.chmod(f"/proc/self/fd/{handle}", stat.S_IRWXU)
        return os.open(f"/proc/self/fd/{handle}", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    finally:
        os.close(handle)


def _give_rights(folder: int) -> None:
    mode = stat.S_IMODE(os.fstat(folder).st_mode)
    if mode & stat.S_IRWXU != stat.S_IRWXU:
        os.chmod(folder, mode | stat.S_IRWXU)


def _empty(top: int, deadline: _Deadline) -> None:
    """Delete what is in the folder ``top``. Folders in folders are moved up to it first, so that none is ever deep."""
    os.chmod(top, stat.S_IRWXU)
    unique, number = os.urandom(8).hex(), 0
    for entry in deadline.names_in(top):
        waiting = [entry]
        while waiting:
            name = waiting.pop()
            with contextlib.suppress(OSError):
                if not stat.S_ISDIR(os.lstat(name, dir_fd=top).st_mode):
                    os.unlink(name, dir_fd=top)
                    continue
                folder = _open_folder(name, top)
                try:
                    os.chmod(folder, stat.S_IRWXU)
                    waiting += _emptied(folder, top, f"{unique}-{number}-", deadline)
                finally:
                    os.close(folder)
                number += 1
                os.rmdir(name, dir_fd=top)
            deadline.check()


def _emptied(folder: int, top: int, prefix: str, deadline: _Deadline) -> list[str]:
    """Delete the files in ``folder``; its folders are moved to ``top``, under names that begin with ``prefix``. Their new names."""
    moved: list[str] = []
    for entry in deadline.names_in(folder):
        with contextlib.suppress(OSError):
            if not stat.S_ISDIR(os.lstat(entry, dir_fd=folder).st_mode):
                os.unlink(entry, dir_fd=folder)
                continue
            name = f"{prefix}{len(moved)}"
            # a folder that is not writable cannot be moved
            inner = _open_folder(entry, folder)
            try:
                os.chmod(inner, stat.S_IRWXU)
            finally:
                os.close(inner)
            os.rename(entry, name, src_dir_fd=folder, dst_dir_fd=top)
            moved.append(name)
    return moved


def move_out(top: str, path: str, trash: str, name: str) -> None:
    """Move the file or folder ``path`` below ``top`` to the folder ``trash``, as ``name``. Raises OSError, also where a link has taken the
    place of a folder on the way: what is there is somebody else's. Folders that a program has closed are opened."""
    *folders, last = os.path.normpath(path).split(os.sep)
    if sys.platform == "win32":  # no file can be named by its folder
        os.rename(os.path.join(top, path), os.path.join(trash, name))
        return
    opened = [os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC) for place in (trash, top)]
    try:
        for folder in folders:
            around = opened.pop()
            try:
                opened.append(_open_folder(folder, around))
                _give_rights(opened[-1])
            finally:
                os.close(around)
        if stat.S_ISDIR(os.lstat(last, dir_fd=opened[1]).st_mode):
            # a folder that is not writable cannot be moved
            opened.insert(0, _open_folder(last, opened[1]))
            _give_rights(opened[0])
        os.rename(last, name, src_dir_fd=opened[-1], dst_dir_fd=opened[-2])
    finally:
        for handle in opened:
            os.close(handle)


def delete_below(folder: str, is_unwanted: Callable[[str, os.stat_result], bool]) -> int:
    """Delete the unwanted files below ``folder``, by name and status, while programs may still work there; how many.

    Each is deleted in the folder where it was seen: what takes the place of a folder meanwhile, a link for example, leads nowhere.
    Raises RecursionError where folders are nested deeper than any compiler does.
    """
    if sys.platform == "win32":  # no file can be named by its folder
        files = ((path, status) for path, status in entries_below(folder) if not stat.S_ISDIR(status.st_mode))
        return sum(_delete(path) for path, status in files if is_unwanted(path, status))
    with contextlib.suppress(OSError):
        top = _open_folder(folder)
        try:
            return _delete_unwanted(top, is_unwanted, MAX_COMPILED_DEPTH)
        finally:
            os.close(top)
    return 0


def _delete_unwanted(folder: int, is_unwanted: Callable[[str, os.stat_result], bool], depth: int) -> int:
    count = 0
    for name in os.listdir(folder):
        with contextlib.suppress(OSError):
            status = os.lstat(name, dir_fd=folder)
            if not stat.S_ISDIR(status.st_mode):
                if is_unwanted(name, status):
                    os.unlink(name, dir_fd=folder)
                    count += 1
                continue
            if depth == 0:
                raise RecursionError("nested folders")
            inner = _open_folder(name, folder)
            try:
                count += _delete_unwanted(inner, is_unwanted, depth - 1)
            finally:
                os.close(inner)
    return count


def delete_one(
    top: str, path: str, key: tuple[int, int], is_new: Callable[[str, int], bool] = lambda *_: False
) -> bool:
    """Delete the file ``path`` below ``top``, if it is the one with the device and inode ``key``; whether it was.

    Folders around it go, too, that have nothing in them any more and that ``is_new`` is true of, by path and inode. No link is followed,
    also where one takes the place of a folder meanwhile.
    """
    *folders, last = os.path.normpath(path).split(os.sep)
    no_links = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    opened: list[int] = []
    is_deleted = False
    with contextlib.suppress(OSError):
        opened.append(os.open(top, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
        for folder in folders:
            opened.append(os.open(folder, no_links, dir_fd=opened[-1]))
        status = os.lstat(last, dir_fd=opened[-1])
        if (status.st_dev, status.st_ino) == key:
            os.unlink(last, dir_fd=opened[-1])
            is_deleted = True
            for depth in range(len(folders), 0, -1):
                if not is_new(os.path.join(top, *folders[:depth]), os.fstat(opened[depth]).st_ino):
                    break
                os.rmdir(folders[depth - 1], dir_fd=opened[depth - 1])
    for handle in opened:
        os.close(handle)
    return is_deleted


def _delete(path: str) -> bool:
    with contextlib.suppress(OSError):
        os.unlink(path)
        return True
    return False


def open_closed(top: str) -> None:
    """Give back the right to look into folders below ``top`` that a program has closed; a link in the place of one leads nowhere."""
    with contextlib.suppress(RecursionError, OSError):
        for _ in range(MAX_COMPILED_DEPTH):  # there may be others in those
            closed: list[str] = []
            for _ in entries_below(top, closed):
                pass
            for path in closed:
                _open_on_the_way(top, os.path.relpath(path, top))
            if not closed:
                return


def _open_on_the_way(top: str, path: str) -> None:
    around = _open_folder(top)
    try:
        _give_rights(around)
        for name in [] if path == os.curdir else path.split(os.sep):
            inner = _open_folder(name, around)
            os.close(around)
            around = inner
            _give_rights(around)
    finally:
        os.close(around)


def entries_below(folder: str, closed: list[str] | None = None) -> Iterator[tuple[str, os.stat_result]]:
    """Each file and folder below ``folder`` with its status. Links are not followed. Folders that may not be looked into, or of whose files
    nothing can be learned, are added to ``closed``.

    Raises RecursionError where folders are nested so deep that some cannot be looked into.
    """
    hidden = closed if closed is not None else []
    waiting = [(os.fspath(folder), 0)]
    while waiting:
        where, depth = waiting.pop()
        if depth > MAX_DEPTH:
            raise RecursionError(f"more than {MAX_DEPTH} nested folders below {folder}")
        try:
            entries = list(os.scandir(where))
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                raise RecursionError(f"a path below {folder} is too long") from None
            if isinstance(error, PermissionError):
                hidden.append(where)
            continue
        for entry in entries:
            try:
                is_folder, status = entry.is_dir(follow_symlinks=False), entry.stat(follow_symlinks=False)
            except PermissionError:
                hidden.append(where)
                break
            except OSError as error:
                if error.errno == errno.ENAMETOOLONG:
                    raise RecursionError(f"a path below {folder} is too long") from None
                continue
            if is_folder:
                waiting.append((entry.path, depth + 1))
            yield entry.path, status
