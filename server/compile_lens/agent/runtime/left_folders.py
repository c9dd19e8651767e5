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
from collections.abc import Iterator

# nobody nests folders so deep but to have them overlooked, and paths have no room for many more
MAX_DEPTH = 1700


def remove_folder(folder: str) -> None:
    """Delete ``folder``, in which no process works any more. What cannot be deleted stays; nothing outside is touched."""
    if os.path.islink(folder):
        with contextlib.suppress(OSError):
            os.unlink(folder)
        return
    if sys.platform == "win32" or not os.path.isdir(folder):
        shutil.rmtree(folder, ignore_errors=True)
        return
    with contextlib.suppress(OSError):
        os.chmod(folder, stat.S_IRWXU)
        top = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            _empty(top)
        finally:
            os.close(top)
        os.rmdir(folder)


def _empty(top: int) -> None:
    """Delete what is in the folder ``top``. Folders in folders are moved up to it first, so that none is ever deep."""
    _delete_files(top, top, prefix="")
    waiting, unique, number = list(os.listdir(top)), os.urandom(8).hex(), 0
    while waiting:
        name = waiting.pop()
        with contextlib.suppress(OSError):
            # no links are left, so none is followed
            os.chmod(name, stat.S_IRWXU, dir_fd=top)
            folder = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=top)
            try:
                moved = _delete_files(folder, top, prefix=f"{unique}-{number}-")
            finally:
                os.close(folder)
            waiting += moved
            number += 1
            os.rmdir(name, dir_fd=top)


def _delete_files(folder: int, top: int, prefix: str) -> list[str]:
    """Delete the files in ``folder``; its folders are moved to ``top``, under names that begin with ``prefix``. Their new names."""
    moved: list[str] = []
    for entry in os.listdir(folder):
        with contextlib.suppress(OSError):
            if not stat.S_ISDIR(os.lstat(entry, dir_fd=folder).st_mode):
                os.unlink(entry, dir_fd=folder)
            elif folder != top:
                name = f"{prefix}{len(moved)}"
                # a folder that is not writable cannot be moved
                os.chmod(entry, stat.S_IRWXU, dir_fd=folder)
                os.rename(entry, name, src_dir_fd=folder, dst_dir_fd=top)
                moved.append(name)
    return moved


def files_below(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    """Each file below ``folder`` with its status. Links are not followed.

    Raises RecursionError where folders are nested so deep that some cannot be looked into.
    """
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
            continue
        for entry in entries:
            with contextlib.suppress(OSError):
                if entry.is_dir(follow_symlinks=False):
                    waiting.append((entry.path, depth + 1))
                else:
                    yield entry.path, entry.stat(follow_symlinks=False)
