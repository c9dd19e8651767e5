"""Finds the files of sockets that services listen on, so that they can be hidden (Linux).

The kernel lists a socket under the name that it was given: one that is relative to the service's folder, or that it had before it was
renamed, leads nowhere from here. So whatever socket is in the folder of such a name counts.
"""

from __future__ import annotations

import contextlib
import os
import stat

TABLE = "/proc/net/unix"
# fields of a line: the number of the socket, and its name
NUMBER, NAME = 6, 7
# of a folder, before it is taken to be full of something else
MAX_ENTRIES = 10_000


def open_sockets() -> list[str]:
    """Paths of the sockets that may be open in this network namespace, without links."""
    folders: dict[str, None] = {}
    found: dict[str, None] = {}
    relative: dict[str, str] = {}
    with contextlib.suppress(OSError), open(TABLE, encoding="utf-8", errors="surrogateescape") as table:
        for line in table:
            fields = line.rstrip("\n").split(maxsplit=NAME)
            if len(fields) <= NAME or fields[NAME].startswith("@"):
                continue
            name = fields[NAME]
            if os.path.isabs(name):
                found[os.path.realpath(name)] = None
                folders[os.path.realpath(os.path.dirname(name))] = None
            else:
                relative[fields[NUMBER]] = os.path.dirname(name)
    for folder in (*folders, *_folders_of_services(relative)):
        found.update(dict.fromkeys(_sockets_in(folder)))
    return list(found)


def _folders_of_services(relative: dict[str, str]) -> list[str]:
    """Where the names of sockets begin: the folders in which the processes work that have the sockets open."""
    found: dict[str, None] = {}
    for pid in filter(str.isdecimal, os.listdir("/proc") if relative else ()):
        with contextlib.suppress(OSError):
            for descriptor in os.listdir(f"/proc/{pid}/fd"):
                with contextlib.suppress(OSError):
                    link = os.readlink(f"/proc/{pid}/fd/{descriptor}")
                    inside = relative.get(link[len("socket:[") : -1]) if link.startswith("socket:[") else None
                    if inside is not None:
                        found[os.path.realpath(os.path.join(os.readlink(f"/proc/{pid}/cwd"), inside))] = None
    return list(found)


def _sockets_in(folder: str) -> list[str]:
    found: list[str] = []
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for count, entry in enumerate(entries):
            if count == MAX_ENTRIES:
                break
            with contextlib.suppress(OSError):
                # what a folder says of its entries is cheap, and settles most
                is_other = not (entry.is_symlink() or entry.is_dir() or entry.is_file())
                if is_other and stat.S_ISSOCK(entry.stat(follow_symlinks=False).st_mode):
                    found.append(entry.path)
    return found
