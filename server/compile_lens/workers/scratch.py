"""Names the temporary folder of each run, which is deleted even if server and standby were killed."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import tempfile
import threading
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
# in which nothing else is answered
SOON_S = 0.2


@contextlib.contextmanager
def scratch_folder() -> Iterator[str]:
    """The place of a folder, whose name says which process answers for it.

    The standby makes it and deletes it: so none is left by a host that is killed before the standby knows of it.
    """
    _remove_ended(SOON_S)
    folder = Path(tempfile.gettempdir(), f"{PREFIX}{os.getpid()}-{secrets.token_hex(8)}")
    try:
        yield str(folder)
    finally:
        _ended[folder] = time.monotonic()
        # the standby has deleted it, unless it was killed, or there is very much in it
        if not _remove_ended(SOON_S):
            threading.Thread(target=_remove_ended, name="scratch", daemon=True).start()


async def earlier_are_gone() -> None:
    """Wait until what runs of this process have left is deleted: the next one would add to it."""
    if not _remove_ended(SOON_S):
        await asyncio.to_thread(_remove_ended)


def _remove_ended(seconds: float | None = None) -> bool:
    """Whether there was time for all of them."""
    is_done = True
    for folder, since in list(_ended.items()):
        if os.path.lexists(folder):
            is_done &= remove_folder(str(folder), seconds)
        elif time.monotonic() - since > CERTAIN_S:
            _ended.pop(folder, None)
    return is_done


def sweep() -> None:
    """Delete the folders of processes that are no more, and those of runs that are over."""
    _remove_ended()
    temporary_folders.sweep()
