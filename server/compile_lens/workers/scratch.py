"""Names the temporary folder of each run, which is deleted even if server and standby were killed."""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from compile_lens import temporary_folders
from compile_lens.agent.runtime.left_folders import remove_folder
from compile_lens.temporary_folders import PREFIX

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


def sweep() -> None:
    """Delete the folders of processes that are no more, and those of runs that are over."""
    _remove_ended()
    temporary_folders.sweep()
