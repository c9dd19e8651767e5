"""Makes a temporary folder for each run, and deletes it even if server and standby were killed."""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from compile_lens.agent.runtime.left_folders import remove_folder

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
            remove_folder(str(folder))


def sweep() -> None:
    """Delete the folders of processes that are no more."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*-*"):
        pid = folder.name.removeprefix(PREFIX).partition("-")[0]
        with contextlib.suppress(OSError):
            if pid.isdigit() and not psutil.pid_exists(int(pid)) and folder.stat().st_uid == _user():
                remove_folder(str(folder))


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0
