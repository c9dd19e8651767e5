"""Makes a temporary folder for each run, and deletes it even if server and standby were killed."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

PREFIX = "compile-lens-run-"


@contextlib.contextmanager
def scratch_folder() -> Iterator[str]:
    """The place of a folder, whose name says which process answers for it.

    The standby makes it and deletes it: so none is left by a host that is killed before the standby knows of it.
    """
    folder = Path(tempfile.gettempdir(), f"{PREFIX}{os.getpid()}-{secrets.token_hex(8)}")
    try:
        yield str(folder)
    finally:
        # the standby has deleted it, unless it was killed
        if folder.exists():
            _remove(folder)


def sweep() -> None:
    """Delete the folders of processes that are no more."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*-*"):
        pid = folder.name.removeprefix(PREFIX).partition("-")[0]
        with contextlib.suppress(OSError):
            if pid.isdigit() and not _is_alive(int(pid)) and folder.stat().st_uid == _user():
                _remove(folder)


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        for where, folders, _ in os.walk(folder):
            for name in folders:
                inside = Path(where, name)
                with contextlib.suppress(OSError):
                    if not inside.is_symlink():
                        inside.chmod(stat.S_IRWXU)
        shutil.rmtree(folder, ignore_errors=True)


def _is_alive(pid: int) -> bool:
    if os.name != "posix":
        return True  # a signal would end it there; the folder is empty in any case
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0
