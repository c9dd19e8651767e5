"""Which calls of Python's reach other processes than the program's own and those that it has started.

Only the audit hook asks (agent/sandbox/calls.py); where the kernel restricts a program, a process space or Landlock does this.
"""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Callable, Iterator
from typing import Any

from . import unaudited_calls
from .passed_text import passed_text

# the first argument names the other process, or the group
SIGNALS: dict[str, Callable[[int], int] | None] = {
    "os.kill": os.getpgid if hasattr(os, "getpgid") else None,
    "os.killpg": (lambda group: group),
    unaudited_calls.SIGNALS: os.getpgid if hasattr(os, "getpgid") else None,
}
# who owns a descriptor gets a signal when there is input. The numbers of fcntl(2) and ioctl(2), for which Python 3.10 has no names:
# ``F_SETOWN``, ``F_SETOWN_EX``, and ``FIOSETOWN`` with ``SIOCSPGRP``
IS_MAC = sys.platform == "darwin"
OWNS, OWNS_BY_KIND = (6, None) if IS_MAC else (8, 15)
OWNS_BY_CONTROL = (0x8004667C, 0x80047308) if IS_MAC else (0x8901, 0x8902)
OF_GROUP = 2  # the kind of an owner (F_OWNER_PGRP)
CONTROLS = ("fcntl.fcntl", "fcntl.ioctl")
EVENTS = (*SIGNALS, *CONTROLS, unaudited_calls.JOINS)
# what Linux shows of a process only to who may trace it (proc(5)); the rest is there for everybody who lists processes
PRIVATE = {
    *("auxv", "cwd", "environ", "exe", "fd", "fdinfo", "io", "map_files", "maps", "mem", "ns", "numa_maps", "pagemap"),
    *("personality", "root", "smaps", "smaps_rollup", "stack", "syscall"),
}
MOST_LINKS = 40  # the kernel follows no more

Refused = tuple[str, str, str]


def reached(event: str, arguments: tuple[Any, ...]) -> Refused | None:
    """What is refused of a call of ``EVENTS``, what it does, and to what. Raises TypeError for arguments that cannot be read."""
    if event == unaudited_calls.JOINS:
        return _joined(*arguments[:2])
    return _owned(event, arguments) if event in CONTROLS else _signaled(event, arguments)


def _signaled(event: str, arguments: tuple[Any, ...]) -> Refused | None:
    group_of = SIGNALS[event]
    pid, number = arguments[:2]
    if pid == os.getpid():
        return None
    if group_of is None:
        # Windows, where each number but that of Ctrl+C ends the process, and groups cannot be asked for
        return _signal_to(pid)
    if number == 0:
        return None
    try:
        if pid > 0 and (group_of(pid) == os.getpgid(0) or is_descendant(pid)):
            return None
    except ProcessLookupError:
        return None  # nor does the call find one
    return None if pid == 0 else _signal_to(pid)


def _joined(pid: int, group: int) -> Refused | None:
    """A process with the group of others would count as one of them."""
    is_own = group in (0, pid, os.getpid(), os.getpgid(0)) or is_descendant(group)
    return None if is_own else ("process", "joins the group of", f"process {group}")


def _owned(event: str, arguments: tuple[Any, ...]) -> Refused | None:
    _, code, value = arguments[:3]
    if event == "fcntl.fcntl" and code == OWNS:
        owner = _number(value) if isinstance(value, int) else _numbers(value)[0]
    elif event == "fcntl.fcntl" and code == OWNS_BY_KIND:
        kind, owner = _numbers(value)[:2]
        owner = -owner if kind == OF_GROUP else owner
    elif event == "fcntl.ioctl" and code & 0xFFFFFFFF in OWNS_BY_CONTROL:
        owner = _numbers(value)[0]
    else:
        return None
    # a group is a negative number, and 0 is nobody
    is_own = owner in (0, os.getpid(), -os.getpid(), -os.getpgid(0)) or is_descendant(abs(owner))
    return None if is_own else _signal_to(owner)


def _signal_to(pid: int) -> Refused:
    return "process", "sends a signal to", f"process {pid}"


def _number(value: int) -> int:
    """What the kernel makes of a number: of its lower half, one with a sign."""
    return (int.__index__(value) + 0x80000000 & 0xFFFFFFFF) - 0x80000000


def _numbers(value: Any) -> tuple[int, ...]:
    """Those in a structure. Raises TypeError for an address, and for what may be another one the next time it is asked."""
    if type(value) not in (bytes, bytearray, memoryview) and type(value).__module__ != "array":
        raise TypeError("no structure that can be read")
    text = bytes(memoryview(value))
    return struct.unpack_from(f"{max(1, len(text) // 4)}i", text.ljust(4, b"\0"))


def is_private(path: str) -> bool:
    """Whether ``path`` leads through what belongs to another process: its memory, its variables, its open files."""
    return sys.platform == "linux" and any(map(_is_of_another, _steps(os.path.join(os.getcwd(), passed_text(path)))))


def _is_of_another(path: str) -> bool:
    _, _, *parts = [*path.split("/"), ""]
    if not path.startswith("/proc/") or not parts[0].isdecimal():
        return False
    of_thread = parts[1] == "task"
    name = parts[3] if of_thread and len(parts) > 4 else parts[1]
    if name not in PRIVATE:
        return False
    pid = int(parts[0])
    return pid != os.getpid() and not os.path.exists(f"/proc/self/task/{pid}") and not is_descendant(pid)


def _steps(path: str) -> Iterator[str]:
    """The files and folders on the way to ``path``, links among them: what some of /proc lead to has no name."""
    here, waiting, links = "/", path.split("/")[::-1], 0
    while waiting and links <= MOST_LINKS:
        part = waiting.pop()
        if part in ("", os.curdir):
            continue
        if part == os.pardir:
            here = os.path.dirname(here)
            continue
        here = os.path.join(here, part)
        yield here
        try:
            target = os.readlink(here)
        except (OSError, ValueError):  # no link
            continue
        links += 1
        here = "/" if os.path.isabs(target) else os.path.dirname(here)
        waiting += target.split("/")[::-1]


def is_descendant(pid: int) -> bool:
    """Whether process ``pid`` is a descendant of this one (Linux)."""
    for _ in range(64):
        try:
            with open(f"/proc/{pid}/stat", "rb") as status:
                pid = int(status.read().rpartition(b")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            return False
        if pid == os.getpid():
            return True
    return False
