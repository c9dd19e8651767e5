"""Makes temporary folders named by their process, so that a later command deletes what one that was killed has left."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from compile_lens.agent.runtime.left_folders import remove_folder

PREFIX = "compile-lens-run-"
# by which times of files and of processes may differ
CLOCKS_S = 5.0


def new_folder() -> str:
    """A new folder of this process, which ``sweep`` deletes after the process has ended."""
    return tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-")


@contextlib.contextmanager
def temporary_folder() -> Iterator[str]:
    """A new folder that is deleted at the end, whatever a program has put there; by ``sweep`` if this process is killed before."""
    folder = new_folder()
    try:
        yield folder
    finally:
        remove_folder(folder)


def sweep() -> None:
    """Delete the folders of processes that are no more."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*-*"):
        pid = folder.name.removeprefix(PREFIX).partition("-")[0]
        with contextlib.suppress(OSError):
            status = folder.lstat()
            if pid.isdecimal() and status.st_uid == _user() and not _has_made(int(pid), status.st_mtime):
                remove_folder(str(folder))


def _has_made(pid: int, changed: float) -> bool:
    """Whether process ``pid`` lives, and is not a later one with the same number as that which made a folder."""
    import psutil  # type: ignore[import-untyped]  # slow to import, and rarely needed

    try:
        began: float = psutil.Process(pid).create_time()
        return began <= changed + CLOCKS_S
    except psutil.NoSuchProcess:
        return False
    except psutil.Error:
        return True


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0
