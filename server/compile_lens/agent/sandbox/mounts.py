"""Reads the table of mounts: where a file has a second name, because its file system is mounted in two places (Linux, proc(5))."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

TABLE = "/proc/self/mountinfo"
ESCAPED = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True, slots=True)
class Mount:
    """The folder (or file) ``root`` of the file system ``device``, which is of a ``kind``, is seen at ``point``."""

    device: str
    root: str
    point: str
    kind: str = ""


def mounts() -> list[Mount]:
    """What is mounted, the oldest first. Nothing where there is no such table."""
    found: list[Mount] = []
    with contextlib.suppress(OSError), open(TABLE, encoding="utf-8", errors="surrogateescape") as table:
        for line in table:
            _, _, device, root, point, *rest = line.split(" ")
            kind = rest[rest.index("-") + 1] if "-" in rest else ""
            found.append(Mount(device, _unescaped(root), _unescaped(point), kind))
    return found


def other_names(path: str, table: list[Mount]) -> Iterator[str]:
    """The same file or folder below other mount points. ``path`` contains no links."""
    here = mount_of(path, table)
    if here is None:
        return
    inside = os.path.normpath(os.path.join(here.root, _below(path, here.point) or ""))
    for mount in table:
        relative = _below(inside, mount.root) if mount.device == here.device else None
        if relative is None:
            continue
        name = os.path.normpath(os.path.join(mount.point, relative))
        with contextlib.suppress(OSError):
            # what is mounted above a mount hides it
            if name != path and os.path.samestat(os.lstat(name), os.lstat(path)):
                yield name


def parts_elsewhere(path: str, table: list[Mount]) -> Iterator[str]:
    """Where what is in the folder ``path`` is mounted by itself, or what is in it. ``path`` contains no links."""
    here = mount_of(path, table)
    if here is not None:
        inside = os.path.normpath(os.path.join(here.root, _below(path, here.point) or ""))
        for mount in table:
            if mount.device == here.device and _below(mount.root, inside) is not None and mount.point != path:
                yield mount.point


def mount_of(path: str, table: list[Mount]) -> Mount | None:
    """Where ``path``, which contains no links, is seen."""
    around = [mount for mount in table if _below(path, mount.point) is not None]
    # of several at one point, the last is seen
    return max(reversed(around), key=lambda mount: len(mount.point)) if around else None


def _below(path: str, folder: str) -> str | None:
    """``path`` relative to ``folder``, '' for itself; None if it is elsewhere."""
    if path == folder:
        return ""
    start = os.path.join(folder, "")
    return path[len(start) :] if path.startswith(start) else None


def _unescaped(text: str) -> str:
    """Blanks, tabs, ends of lines, backslashes and number signs are written as octal numbers."""
    return ESCAPED.sub(lambda match: chr(int(match[1], 8)), text)
