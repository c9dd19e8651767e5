"""Makes temporary folders for runs and commands, which are deleted even if server and standby were killed."""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from compile_lens.agent.runtime.left_folders import remove_folder

PREFIX = "compile-lens-run-"
# by which times of files and of processes may differ
CLOCKS_S = 5.0


# folders of this process whose runs are over, until it is certain that none is there; since when
_ended: dict[Path, float] = {}
# a process that is being killed, or that nobody could kill, may make its folder after that
CERTAIN_S = 60.0


@contextlib.contextmanager
def scratch_folder() -> Iterator[str]:
    """The place of a folder, whose name says which process answers for it.

    The standby makes it and deletes it: so none is left by a host that is killed before the standby knows of it.
    """
    _remove_ended()
    folder = Path(tempfile.gettempdir(), f"{PREFIX}{os.getpid()}-{secrets.token_hex(8)}")
    try:
        yield str(folder)
    finally:
        _ended[folder] = time.monotonic()
        # the standby has deleted it, unless it was killed
        _remove_ended()


def _remove_ended() -> None:
    for folder, since in list(_ended.items()):
        if os.path.lexists(folder):
            remove_folder(str(folder))
        elif time.monotonic() - since > CERTAIN_S:
            _ended.pop(folder, None)


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
    """Delete the folders of processes that are no more, and those of runs that are over."""
    _remove_ended()
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*-*"):
        pid = folder.name.removeprefix(PREFIX).partition("-")[0]
        with contextlib.suppress(OSError):
            status = folder.lstat()
            if pid.isdecimal() and status.st_uid == _user() and not _has_made(int(pid), status.st_mtime):
                remove_folder(str(folder))


def _has_made(pid: int, changed: float) -> bool:
    """Whether process ``pid`` lives, and is not a later one with the same number as that which made a folder."""
    try:
        began: float = psutil.Process(pid).create_time()
        return began <= changed + CLOCKS_S
    except psutil.NoSuchProcess:
        return False
    except psutil.Error:
        return True


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0
