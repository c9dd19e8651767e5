"""Keeps a run from the file of its own interpreter (Linux).

``/proc/self/exe`` leads to that file where it was mounted when the interpreter was started, past every namespace that the process has
entered since. Whoever owns the file could change its mode, times and attributes there. So the standby is started from a read-only mount.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys

from ..runtime import processes
from . import kernel

LINK = "/proc/self/exe"
NEW_MOUNTS, NEW_USER = 0x20000, 0x10000000
RECURSIVE, PRIVATE, READ_ONLY = 0x4000, 0x40000, 0x1
ANEW = "anew"
NAMESPACES = "mnt:["


def can_be_changed() -> bool:
    """Whether a program could change mode, owner, times or attributes of the file that this process was started from."""
    try:
        is_own = os.geteuid() in (0, os.stat(LINK).st_uid)
        return is_own and not os.statvfs(LINK).f_flag & os.ST_RDONLY
    except OSError:
        return True


def start_anew() -> None:
    """Start this process once more, from a read-only mount, unless that has happened, or changes nothing, or cannot be."""
    if sys.argv[-1] == ANEW:
        del sys.argv[-1], sys.orig_argv[-1]
        _keep_mounts()
    elif sys.platform == "linux" and can_be_changed():
        with contextlib.suppress(OSError):  # then no overlay works either
            program, mounts = _opened_elsewhere(os.readlink(LINK))
            os.set_inheritable(mounts, True)
            os.set_inheritable(program, False)  # what is received would be kept, unlike what is opened
            os.execve(program, [*sys.orig_argv, ANEW], os.environ)


def _opened_elsewhere(path: str) -> tuple[int, int]:
    """The file at ``path`` in a mount namespace of its own that is read-only, and the namespace. Raises OSError."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        child = processes.fork()
        if child == 0:
            try:
                kernel.unshare(NEW_MOUNTS if kernel.can_mount() else NEW_MOUNTS | NEW_USER)
                kernel.mount(None, "/", None, RECURSIVE | PRIVATE)
                kernel.set_mount_attributes("/", READ_ONLY, 0, recursive=True)
                opened = [os.open(path, os.O_PATH), os.open("/proc/self/ns/mnt", os.O_RDONLY)]
                if os.path.samestat(os.fstat(opened[0]), os.stat(LINK)):
                    socket.send_fds(theirs, [b"."], opened)
            finally:
                os._exit(0)
        theirs.close()
        _, received, _, _ = socket.recv_fds(ours, 1, 2)
        os.waitpid(child, 0)
    if len(received) != 2:
        raise OSError(f"{path} cannot be opened read-only")
    return received[0], received[1]


def _keep_mounts() -> None:
    """Keep the namespace, without which the link would name the file by another path, and keep it from runs."""
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # that of the list itself
            if os.readlink(f"/proc/self/fd/{name}").startswith(NAMESPACES):
                os.set_inheritable(int(name), False)
                processes.private_descriptors.add(int(name))
