"""Landlock (Linux 5.13): the kernel refuses what no rule allows, to Python and native code alike. Needs no privilege.

Constants are from include/uapi/linux/landlock.h. The ABI version comes from the running kernel, and only what it supports is used.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import stat
from collections.abc import Iterable

from . import kernel

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REMOVE_AND_MAKE = sum(1 << bit for bit in range(4, 13))
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15  # ABI 2, ABI 3, ABI 5
FOR_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
SCOPE_ABSTRACT_UNIX, SCOPE_SIGNAL = 1, 2  # ABI 6
RULE_PATH_BENEATH = 1
# versions from which on it restricts truncation, and signals and abstract sockets
WITH_TRUNCATE, WITH_SCOPES = 3, 6


def abi() -> int:
    """The Landlock ABI version of the kernel; 0 without Landlock."""
    version_only = 1
    try:
        return kernel.system_call(kernel.LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), version_only)
    except (OSError, AttributeError):
        return 0


class Ruleset:
    """Rules under construction. ``restrict`` enforces them for this thread and all its descendants, for good.

    Paths contain no links: one that has become a link since it was resolved, or that leads through a folder which has, is passed over.
    """

    def __init__(self, version: int, reads: bool) -> None:
        """``reads``: reading files needs a rule, too."""
        self.write = WRITE_FILE | REMOVE_AND_MAKE
        self.write |= (REFER if version >= 2 else 0) | (TRUNCATE if version >= WITH_TRUNCATE else 0)
        self.read = READ_FILE if reads else 0
        self.control = IOCTL_DEV if version >= 5 else 0
        handled = self.write | self.read | self.control
        self.scopes = version >= WITH_SCOPES
        fields = [handled, 0, SCOPE_ABSTRACT_UNIX | SCOPE_SIGNAL if self.scopes else 0]
        known = {1: 1, 2: 1, 3: 1, 4: 2, 5: 2}.get(version, 3)
        attributes = (ctypes.c_uint64 * known)(*fields[:known])
        size = ctypes.c_size_t(ctypes.sizeof(attributes))
        self._descriptor = kernel.system_call(kernel.LANDLOCK_CREATE_RULESET, ctypes.byref(attributes), size, 0)

    def allow_writes(self, paths: Iterable[str]) -> None:
        """Allow everything that changes files below ``paths``."""
        for path in paths:
            self._allow(path, self.write)

    def allow_reads(self, paths: Iterable[str]) -> None:
        """Allow reading files below ``paths``."""
        for path in paths:
            self._allow(path, self.read)

    def allow_devices(self, paths: Iterable[str]) -> None:
        """Allow reading, writing and controlling the devices ``paths``, or those below."""
        for path in paths:
            self._allow(path, WRITE_FILE | self.read | self.control)

    def _allow(self, path: str, access: int) -> None:
        # a path that is gone or not accessible needs no rule
        with contextlib.suppress(OSError):
            descriptor = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                mode = os.fstat(descriptor).st_mode
                # where it is now says whether a folder on the way was a link
                if stat.S_ISLNK(mode) or kernel.path_of(descriptor) != path:
                    return
                if not stat.S_ISDIR(mode):
                    access &= FOR_FILES
                rule = ctypes.create_string_buffer(12)
                ctypes.memmove(rule, access.to_bytes(8, "little") + descriptor.to_bytes(4, "little"), 12)
                kernel.system_call(kernel.LANDLOCK_ADD_RULE, self._descriptor, RULE_PATH_BENEATH, rule, 0)
            finally:
                os.close(descriptor)

    def restrict(self) -> None:
        """Enforce the rules. ``no_new_privs`` must be set."""
        kernel.system_call(kernel.LANDLOCK_RESTRICT_SELF, self._descriptor, 0)
        os.close(self._descriptor)
