"""Reads files that lie in a workspace, where anybody may have put a pipe or a link to an endless device in the place of one.

Server and agent use it: it needs the standard library alone.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

# no configuration or source file that matters is larger
LARGEST_BYTES = 8_000_000


class FileTooLargeError(OSError):
    """The file has more bytes than are read."""


def open_regular(path: str | Path) -> BinaryIO:
    """A regular file, open for reading. Raises OSError for anything else, at once."""
    # a pipe may never begin
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    file = open(descriptor, "rb")
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return file
    file.close()
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    raise OSError(errno.EINVAL, "not a regular file", str(path))


def read_regular(path: str | Path, largest: int = LARGEST_BYTES) -> bytes:
    """The bytes of a regular file. Raises OSError for anything else, at once, and for one of more than ``largest`` bytes."""
    with open_regular(path) as file:
        data = file.read(largest + 1)
    if len(data) > largest:
        raise FileTooLargeError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
    return data


def read_regular_text(path: str | Path) -> str:
    """The same as text in UTF-8; what is none is replaced."""
    return read_regular(path).decode("utf-8", "replace")


def is_file(path: str | Path) -> bool:
    """Whether ``path``, which a program, a trace or a document may name, is a file. ``Path.is_file`` raises OSError where a name is too
    long, or a folder is closed."""
    return os.path.isfile(path)


def is_folder(path: str | Path) -> bool:
    """The same of a folder."""
    return os.path.isdir(path)
