"""System calls that Python does not wrap, through ``ctypes``. Linux only; each raises OSError."""

from __future__ import annotations

import ctypes
import os
from typing import Any

PR_SET_NO_NEW_PRIVS = 38
# the same on every architecture (include/uapi/asm-generic/unistd.h) since the tables were unified in Linux 5.1
MOUNT_SETATTR = 442
LANDLOCK_CREATE_RULESET, LANDLOCK_ADD_RULE, LANDLOCK_RESTRICT_SELF = 444, 445, 446
# both differ by architecture
SECCOMP = {"x86_64": 317, "aarch64": 277}
CAPSET = {"x86_64": 126, "aarch64": 91}

_libc: Any = None


def libc() -> Any:
    """The C library of this process."""
    global _libc
    if _libc is None:
        _libc = ctypes.CDLL(None, use_errno=True)
    return _libc


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)
    return result


def system_call(number: int, *arguments: Any) -> int:
    """Make the call with this number."""
    return _checked(libc().syscall(ctypes.c_long(number), *arguments), f"system call {number}")


def prctl(option: int, value: int) -> None:
    """``prctl(option, value, 0, 0, 0)``."""
    zero = ctypes.c_ulong(0)
    _checked(libc().prctl(option, ctypes.c_ulong(value), zero, zero, zero), f"prctl {option}")


def unshare(flags: int) -> None:
    """Move to new namespaces of the kinds in ``flags``."""
    _checked(libc().unshare(flags), f"unshare {flags:#x}")


def mount(source: str | None, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    """``mount(2)``."""

    def text(value: str | None) -> bytes | None:
        return None if value is None else os.fsencode(value)

    result = libc().mount(text(source), text(target), text(kind), ctypes.c_ulong(flags), text(options))
    _checked(result, f"mount on {target}")


def unmount(target: str) -> None:
    """``umount(2)``."""
    _checked(libc().umount(os.fsencode(target)), f"unmount {target}")


def set_mount_attributes(path: str, add: int, remove: int, recursive: bool) -> None:
    """``mount_setattr(2)`` (Linux 5.12)."""
    at_fdcwd, at_recursive = -100, 0x8000
    attributes = (ctypes.c_uint64 * 4)(add, remove, 0, 0)
    flags = at_recursive if recursive else 0
    size = ctypes.c_size_t(ctypes.sizeof(attributes))
    system_call(MOUNT_SETATTR, at_fdcwd, os.fsencode(path), flags, ctypes.byref(attributes), size)


def path_of(descriptor: int) -> str:
    """Where what is open is now. Raises OSError."""
    return os.readlink(f"/proc/self/fd/{descriptor}")


def drop_capabilities() -> None:
    """Drop all capabilities of this thread; root keeps those about files, so that it can still read what root can."""
    kept = 0b11111 if os.geteuid() == 0 else 0  # CHOWN, DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER, FSETID
    number = CAPSET.get(os.uname().machine)
    if number is None:
        raise OSError(38, "unsupported architecture", os.uname().machine)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # version 3, this thread
    held = _held_capabilities() & kept
    low, high = held & 0xFFFFFFFF, held >> 32
    sets = (ctypes.c_uint32 * 6)(low, low, 0, high, high, 0)  # effective, permitted, inheritable; low words first
    system_call(number, ctypes.byref(header), ctypes.byref(sets))


def _held_capabilities() -> int:
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith("CapPrm:"):
                return int(line.split()[1], 16)
    return 0


def can_mount() -> bool:
    """Whether this process may mount without a user namespace of its own."""
    cap_sys_admin = 1 << 21
    return bool(_held_capabilities() & cap_sys_admin)
