"""Finds the files of sockets that have got another name in another folder since their services opened them (Linux).

The kernel tells of each which file it is (``UDIAG_SHOW_VFS``, sock_diag(7)), and not where that is now. So folders are looked into: first
around the names that sockets have had, then from where the file system is mounted, and no more than takes a moment. A file that is
deleted has no name: it is looked for in vain.
"""

from __future__ import annotations

import contextlib
import os
import socket
import stat
import struct
from collections import Counter
from collections.abc import Collection, Iterator

from .mounts import mount_of, mounts
from .policy import is_below

# files and folders below one of the places where the look begins, before the next one's turn; and how many folders up from a name it does
MOST_LOOKED_AT, UPWARDS = 10_000, 3
# Number and device in the kernel are those of an inode of its own there, which need not be those that folders show: each socket counts.
OVERLAYS = ("overlay", "fuse.fuse-overlayfs")
# of others, whoever serves them may take any time to answer
SERVED = "fuse"
NETLINK_SOCK_DIAG, SOCK_DIAG_BY_FAMILY, REQUEST_DUMP, DONE, ERROR = 4, 20, 0x301, 3, 2
SHOW_FILE, OF_FILE = 2, 1
HEAD, REQUEST, MESSAGE_BYTES, ATTRIBUTE = "=IHHII", "=BBHIIIII", 16, "=HH"
# seconds, of an answer that comes at once
LONGEST_WAIT_S = 1.0
# a file: its device as the table of mounts writes it, and its number
File = tuple[str, int]


def other_places(known: Collection[str], passed_over: Collection[str]) -> list[str]:
    """Where sockets are that are open, and at none of the paths ``known``, without links, which need not exist any more.

    Nothing is looked for in the folders ``passed_over``.
    """
    table = mounts()
    names: Counter[File] = Counter()
    links: dict[File, int] = {}
    for path in known:
        with contextlib.suppress(OSError):
            status, mount = os.lstat(path), mount_of(path, table)
            if mount is not None:
                names[mount.device, status.st_ino] += 1
                links[mount.device, status.st_ino] = status.st_nlink
    wanted = {file for file in bound_files() if names[file] < links.get(file, 1)}
    found: dict[str, None] = {}
    for device in {device for device, _ in wanted}:
        seen_at = [mount for mount in table if mount.device == device and _may_be_read(mount.kind)]
        if not seen_at:
            continue
        has_other_numbers = any(mount.kind in OVERLAYS for mount in seen_at)
        numbers = None if has_other_numbers else {number for other, number in wanted if other == device}
        around = [*passed_over, *(mount.point for mount in table if mount.device != device)]
        # how far up, and not how near to the root, tells where a service may have moved its socket to
        nearby = [
            place
            for path in known
            if (mount := mount_of(path, table)) is not None and mount.device == device
            for place in _up_from(path)
            if not is_below(place, passed_over)
        ]
        for place in dict.fromkeys((*nearby, *(mount.point for mount in seen_at))):
            found.update(dict.fromkeys(_sockets_among(numbers, place, set(around))))
            around.append(place)
    return [path for path in found if path not in known]


def _may_be_read(kind: str) -> bool:
    return kind in OVERLAYS or not kind.startswith(SERVED)


def _up_from(path: str) -> list[str]:
    found: list[str] = []
    for _ in range(UPWARDS):
        path = os.path.dirname(path)
        found.append(path)
    return [place for place in found if place != os.sep]


def bound_files() -> set[File]:
    """The files that sockets in this network namespace are bound to. None where the kernel does not tell."""
    found: set[File] = set()
    with (
        contextlib.suppress(OSError, struct.error),
        socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_SOCK_DIAG) as kernel,
    ):
        kernel.settimeout(LONGEST_WAIT_S)
        request = struct.pack(REQUEST, socket.AF_UNIX, 0, 0, 0xFFFFFFFF, 0, SHOW_FILE, 0xFFFFFFFF, 0xFFFFFFFF)
        kernel.send(struct.pack(HEAD, 16 + len(request), SOCK_DIAG_BY_FAMILY, REQUEST_DUMP, 1, 0) + request)
        while True:
            for kind, body in _messages(kernel.recv(1 << 16)):
                if kind in (DONE, ERROR):
                    return found
                found.update(_file_in(body))
    return found


def _messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    while data:
        length, kind, *_ = struct.unpack_from(HEAD, data)
        if length < 16:
            return
        yield kind, data[16:length]
        data = data[_aligned(length) :]


def _file_in(body: bytes) -> Iterator[File]:
    attributes = body[MESSAGE_BYTES:]
    while attributes:
        length, kind = struct.unpack_from(ATTRIBUTE, attributes)
        if length < 4:
            return
        if kind == OF_FILE:
            number, device = struct.unpack_from("=II", attributes, 4)
            yield f"{device >> 20}:{device & 0xFFFFF}", number
        attributes = attributes[_aligned(length) :]


def _aligned(length: int) -> int:
    return (length + 3) & ~3


def _is_socket(entry: os.DirEntry[str]) -> bool:
    return stat.S_ISSOCK(entry.stat(follow_symlinks=False).st_mode)


def _sockets_among(numbers: set[int] | None, place: str, passed_over: set[str]) -> Iterator[str]:
    """The files of these numbers below ``place`` that may be sockets; with None, all that are."""
    waiting, looked_at = [place], 0
    while waiting:
        inner: list[str] = []
        for folder in waiting:
            if folder in passed_over:
                continue
            with contextlib.suppress(OSError), os.scandir(folder) as entries:
                for entry in entries:
                    looked_at += 1
                    if looked_at > MOST_LOOKED_AT:
                        return
                    if entry.is_dir(follow_symlinks=False):
                        inner.append(entry.path)
                    # what a folder says of its entries is cheap, and settles most
                    elif entry.is_file(follow_symlinks=False) or entry.is_symlink():
                        continue
                    elif entry.inode() in numbers if numbers is not None else _is_socket(entry):
                        yield entry.path
        waiting = inner
