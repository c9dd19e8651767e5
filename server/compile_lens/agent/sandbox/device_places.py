"""Where the devices of the machine are seen besides ``/dev``: in the tree of a ``chroot``, a container or a rescue system (Linux)."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from .mounts import Mount, mounts, other_names, parts_elsewhere
from .policy import DEVICES, is_below

FOLDER = "/dev"
# devices and terminals of the kernel's own making (proc_pid_mountinfo(5))
KINDS = ("devtmpfs", "devpts")
# containers mount the null device on files there, whose folders are read as a whole
OF_THE_KERNEL = ("/proc", "/sys")


def device_places(table: list[Mount] | None = None) -> list[str]:
    """Folders and files through which devices can be opened, ``/dev`` first: of those that are mounted, as ``table`` or the kernel says.

    A device that has a file of its own in some folder is in no table, and could be found only by a look at each file of the machine.
    """
    found = [FOLDER]
    for place in _mounted(mounts() if table is None else table):
        if not is_below(place, [*OF_THE_KERNEL, *found]) and not _is_harmless(place):
            found.append(place)
    return found


def _mounted(table: list[Mount]) -> Iterator[str]:
    yield from (mount.point for mount in table if mount.kind in KINDS and mount.point != os.sep)
    yield from other_names(FOLDER, table)
    yield from parts_elsewhere(FOLDER, table)


def _is_harmless(place: str) -> bool:
    """Whether it is a harmless device, wherever it is."""
    try:
        status = os.stat(place)
        return stat.S_ISCHR(status.st_mode) and status.st_rdev in {os.stat(device).st_rdev for device in DEVICES}
    except OSError:
        return False
