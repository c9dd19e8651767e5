"""Finds the files of sockets that services listen on, so that they can be hidden (Linux).

The kernel lists a socket under the name that it was given: one that is relative to the service's folder, that begins at a root of the
service's own, or that it had before it was renamed, leads nowhere from here. So whatever socket is in the folder of such a name counts, and
in the same folder wherever it is mounted. One that was moved to another folder since, or has a second name there, is looked for by what
its file is (moved_sockets.py).
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterator

from .mounts import mounts, other_names
from .moved_sockets import other_places
from .policy import home, temporary_folders

TABLE = "/proc/net/unix"
# how a line begins: a name may have several; behind it are the number of the socket, and its name last (net/unix/af_unix.c)
BEGIN = re.compile(r"^[0-9a-fA-F]+: ", re.MULTILINE)
NUMBER, NAME = 5, 6
# sockets of services are here: through an overlay of the folder, no service answers
SERVICES = ("/run", "/var/run")
# these are covered, or stay as they are
OF_THE_KERNEL = ("/dev", "/proc", "/sys")
# of a folder, before it is taken to be full of something else
MAX_ENTRIES = 10_000


def open_sockets() -> list[str]:
    """Paths of the sockets that may be open in this network namespace, without links."""
    found: dict[str, None] = {}
    folders: dict[str, None] = {}
    names = dict(_names())
    for name in filter(os.path.isabs, names.values()):
        found[os.path.realpath(name)] = None
        folders[os.path.realpath(os.path.dirname(name))] = None
    folders.update(dict.fromkeys(_folders_of_services(names)))
    table = mounts() if folders else []
    for folder in folders:
        for place in (folder, *other_names(folder, table)):
            found.update(dict.fromkeys(_sockets_in(place)))
    # in the folders that every run gets copies of, no service is reached
    found.update(dict.fromkeys(other_places(found, (home(), *temporary_folders(), *SERVICES, *OF_THE_KERNEL))))
    return list(found)


def _names() -> Iterator[tuple[str, str]]:
    """Number and name of each socket that has a file."""
    text = ""
    with contextlib.suppress(OSError), open(TABLE, encoding="utf-8", errors="surrogateescape", newline="") as table:
        text = table.read()
    for line in BEGIN.split(text)[1:]:
        fields = line.removesuffix("\n").split(maxsplit=NAME)
        if len(fields) > NAME and not fields[NAME].startswith("@"):
            yield fields[NUMBER], fields[NAME]


def _folders_of_services(names: dict[str, str]) -> list[str]:
    """Where ``names`` begin that do not begin at our root: the folders in which the processes work that have the sockets open, and the
    roots of those that have one of their own."""
    found: dict[str, None] = {}
    has_relative = not all(map(os.path.isabs, names.values()))
    for pid in filter(str.isdecimal, os.listdir("/proc") if names else ()):
        with contextlib.suppress(OSError):
            root = os.readlink(f"/proc/{pid}/root")
            for descriptor in os.listdir(f"/proc/{pid}/fd") if has_relative or root != "/" else ():
                with contextlib.suppress(OSError):
                    link = os.readlink(f"/proc/{pid}/fd/{descriptor}")
                    name = names.get(link[len("socket:[") : -1]) if link.startswith("socket:[") else None
                    if name is not None and not os.path.isabs(name):
                        found[_folder_in(os.readlink(f"/proc/{pid}/cwd"), name)] = None
                    elif name is not None and root != "/":
                        found[_folder_in(root, name)] = None
    return list(found)


def _folder_in(start: str, name: str) -> str:
    return os.path.realpath(os.path.join(start, os.path.dirname(name).lstrip("/")))


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
