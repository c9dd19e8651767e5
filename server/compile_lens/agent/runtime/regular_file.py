"""Reads files that lie in a workspace, where anybody may have put a pipe or a link to an endless device in the place of one.

Server and agent use it: it needs the standard library alone.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

# no configuration or source file that matters is larger
LARGEST_BYTES = 8_000_000
# of what runs leave, and of what is kept of them
LARGEST_OF_RUNS = 1 << 28
PART = 1 << 20
# a file of more bytes than this, of which next to nothing is on the disk, was made to fill memory: it says that it has so many times more
# (whoever compresses a disk packs to a hundredth at most)
FEW_BYTES, MOST_TIMES = 1 << 28, 200


class FileTooLargeError(OSError):
    """The file has more bytes than are read."""


def open_regular(path: str | Path, largest: int | None = None, follow_links: bool = True) -> BinaryIO:
    """A regular file, open for reading. Raises OSError for anything else, at once, and for one of more than ``largest`` bytes, or that
    consists of holes, if there is such a limit; without ``follow_links`` for a link, too."""
    if not follow_links and os.path.islink(path):
        raise OSError(errno.ELOOP, "a link", str(path))
    no_links = 0 if follow_links else getattr(os, "O_NOFOLLOW", 0)  # one that has just taken its place
    # a pipe may never begin
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | no_links)
    file = open(descriptor, "rb")
    status = os.fstat(descriptor)
    if stat.S_ISREG(status.st_mode) and (largest is None or (status.st_size <= largest and not is_holes(status))):
        return file
    file.close()
    if stat.S_ISREG(status.st_mode):
        raise _too_large(path)
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    raise OSError(errno.EINVAL, "not a regular file", str(path))


def is_holes(status: os.stat_result) -> bool:
    """Whether a file has next to nothing on the disk: what it says that it has would be read for hours, and fill memory."""
    return hasattr(status, "st_blocks") and status.st_size > max(FEW_BYTES, MOST_TIMES * 512 * status.st_blocks)


def read_regular(path: str | Path, largest: int = LARGEST_BYTES) -> bytes:
    """The bytes of a regular file. Raises OSError for anything else, at once, and for one of more than ``largest`` bytes."""
    with open_regular(path, largest) as file:
        return b"".join(parts_of(file, path, largest))


def parts_of(file: BinaryIO, path: str | Path, largest: int) -> Iterator[bytes]:
    """The bytes of ``file``, which ``open_regular`` has opened at ``path``. Raises OSError as ``read_regular`` does."""
    left = largest
    while True:
        part = file.read(min(PART, left + 1))
        # files of the kernel may say that there is nothing yet
        if part is None:
            raise OSError(errno.EAGAIN, "not a regular file", str(path))
        if not part:
            return
        left -= len(part)
        if left < 0:
            raise _too_large(path)
        yield part


def _too_large(path: str | Path) -> FileTooLargeError:
    return FileTooLargeError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))


def read_regular_text(path: str | Path, largest: int = LARGEST_BYTES) -> str:
    """The same as text in UTF-8; what is none is replaced."""
    return read_regular(path, largest).decode("utf-8", "replace")


def is_file(path: str | Path) -> bool:
    """Whether ``path``, which a program, a trace or a document may name, is a file. ``Path.is_file`` raises OSError where a name is too
    long, or a folder is closed."""
    return os.path.isfile(path)


def is_folder(path: str | Path) -> bool:
    """The same of a folder."""
    return os.path.isdir(path)
