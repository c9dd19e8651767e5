"""Writes files: atomically, so that readers see the old content or the new one, never a part; and through no link but a user's own."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from compile_lens.agent.runtime.regular_file import open_regular, parts_of

# what the user's mask leaves of it
FOR_THE_USER = 0o666


def write_beside(path: Path, content: str | bytes) -> None:
    """Write a file for the user under a name of ours, in a folder that anybody may have filled. What is there is replaced, a link
    too, and not followed. Raises OSError, also where something else than a file is in its place."""
    _refuse_what_is_no_file(path)
    write_atomically(path, content, FOR_THE_USER)


def copy_beside(file: Path, path: Path, largest: int) -> int:
    """The same with the content of ``file``, which a run has left; its size. OSError if it is a link, no file, of more than ``largest``
    bytes, or of holes. Nothing is left behind then."""
    _refuse_what_is_no_file(path)
    with open_regular(file, largest, follow_links=False) as source:
        path.unlink(missing_ok=True)
        try:
            with path.open("xb") as target:
                target.writelines(parts_of(source, file, largest))
                return target.tell()
        except BaseException:  # raised again, an interrupt too
            path.unlink(missing_ok=True)
            raise


def write_named(path: Path, content: str | bytes) -> None:
    """Write a file that the user named. Links and devices are what the user means, as in a shell. Raises OSError."""
    path.parent.stat()  # a folder that is not there is a slip of the pen
    if not os.path.lexists(path) or stat.S_ISREG(path.lstat().st_mode):
        write_atomically(path, content, FOR_THE_USER)
    else:
        path.write_bytes(_bytes(content))


def _bytes(content: str | bytes) -> bytes:
    # names of files may be no text
    return content.encode("utf-8", "replace") if isinstance(content, str) else content


def _refuse_what_is_no_file(path: Path) -> None:
    # a link to a file, or to nothing, is only a name
    if path.exists() and not path.is_file():
        raise OSError(errno.EEXIST, "not a file", str(path))


def write_atomically(path: Path, content: str | bytes, mode: int = 0o600) -> None:
    """Write ``content`` to ``path``, whose folder is made if it is not there. Raises OSError, and leaves nothing behind then."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # as `tempfile` does it, which takes longer to import than this takes
    name = path.with_name(f".{path.name}.{os.urandom(8).hex()}.new")
    handle = os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0), mode)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_bytes(content))
        name.replace(path)
    except BaseException:  # raised again, an interrupt too
        name.unlink(missing_ok=True)
        raise
