"""An audit hook: a call that the run may not make raises ``PermissionError``, and is told with the line of the user's that made it.

Above a kernel that refuses the same, it only gives the better words. On macOS and Windows it stands alone, and holds what goes through
Python's own functions: neither native code nor other programs.
"""

from __future__ import annotations

import errno
import os
import socket
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType, FunctionType
from typing import Any

from .policy import is_below

WORDS = "a background run may not do this (Compile Lens)"
MOST_TOLD = 40
MOST_FRAMES = 200
CHANGING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# event: (what it does to the path, which arguments are paths, which argument is the descriptor of their folder)
CHANGES = {
    "os.remove": ("deletes", (0,), 1), "os.rmdir": ("deletes", (0,), 1), "os.mkdir": ("makes", (0,), 2),
    "os.rename": ("renames", (0, 1), 2), "os.link": ("links", (1,), 3), "os.symlink": ("links", (1,), 2),
    "os.truncate": ("truncates", (0,), None), "os.chmod": ("changes the mode of", (0,), 2),
    "os.chown": ("changes the owner of", (0,), 3), "os.utime": ("changes the times of", (0,), 3),
    "os.setxattr": ("changes the attributes of", (0,), None), "os.removexattr": ("changes the attributes of", (0,), None),
}  # fmt: skip
# of another process; the first argument names it
SIGNALS = {"os.kill": os.getpgid if hasattr(os, "getpgid") else None, "os.killpg": (lambda group: group)}
STARTS = {"subprocess.Popen": 0, "os.system": 0, "os.exec": 0, "os.posix_spawn": 0, "os.startfile": 0}
# what compiles, and what only looks; nothing else starts where no kernel holds it
HARMLESS = (
    "python", "c++", "g++", "gcc", "cc", "clang", "clang++", "cl", "ld", "ptxas", "nvcc", "ninja", "xcrun", "sysctl", "uname",
    "where", "which", "ldconfig",
)  # fmt: skip
# of the Internet, as the socket module numbers them on every system
INTERNET, STREAM, DATAGRAM = (socket.AF_INET, socket.AF_INET6), socket.SOCK_STREAM, socket.SOCK_DGRAM
SPECIAL = ("/dev", "/proc", "/sys") if os.name == "posix" else ()


@dataclass(frozen=True, slots=True)
class Rules:
    """Where a program may write, what it may not read, and whom it may reach. Paths have no links in them."""

    writable: tuple[str, ...]
    secret: tuple[str, ...]
    network: bool
    own_network: bool
    processes: bool


Tell = Callable[[str, str, str, FrameType], None]


def install(rules: Rules, tell: Tell) -> None:
    """Watch the calls of this interpreter for good. ``tell(what, does, target, frame)`` is called for each that is refused."""
    hook = _Hook(rules, tell)
    _keep_dynamo_out(*vars(_Hook).values(), _is_here, _is_probe, _descends, _positions, is_below, tell)
    sys.addaudithook(hook.on_event)


class _Hook:
    def __init__(self, rules: Rules, tell: Tell) -> None:
        self._rules = rules
        self._tell = tell
        self._told: set[tuple[str, tuple[int, ...]]] = set()
        self._busy = threading.local()
        self._checks: dict[str, Callable[[str, tuple[Any, ...]], tuple[str, str, str] | None]] = {"open": self._open}
        self._checks.update(dict.fromkeys(CHANGES, self._change))
        self._checks.update(dict.fromkeys(SIGNALS, self._signal))
        if not rules.processes:
            self._checks.update(dict.fromkeys(STARTS, self._start))
        if not rules.network:
            reaching = ("socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg")
            self._checks.update(dict.fromkeys(reaching, self._reach))
            if not rules.own_network:
                self._checks["socket.__new__"] = self._create
            self._checks.update({"socket.getaddrinfo": self._look_up, "socket.gethostbyname": self._look_up})

    def on_event(self, event: str, arguments: tuple[Any, ...]) -> None:
        check = self._checks.get(event)
        if check is None or getattr(self._busy, "now", False):
            return
        self._busy.now = True
        try:
            refused = check(event, arguments)
            if refused is None:
                return
            if not _is_probe(event, arguments):
                self._report(*refused)
        except (TypeError, ValueError, OSError, AttributeError, IndexError):
            return  # the call has arguments that it will complain about itself
        finally:
            self._busy.now = False
        raise PermissionError(errno.EACCES, WORDS, refused[2])

    def _report(self, what: str, does: str, target: str) -> None:
        frame = sys._getframe(2)
        key = (what, _positions(frame))
        if key not in self._told and len(self._told) < MOST_TOLD:
            self._told.add(key)
            self._tell(what, does, target, frame)

    def _open(self, _: str, arguments: tuple[Any, ...]) -> tuple[str, str, str] | None:
        path, mode, flags = arguments[:3]
        if isinstance(path, int) or path is None:
            return None
        changes = bool(flags & CHANGING) if isinstance(flags, int) else False
        if isinstance(mode, str):
            changes = any(letter in mode for letter in "wax+")
        if changes:
            return self._written(path, "writes")
        name = os.fsdecode(path)
        real = os.path.realpath(name)
        return ("read", "reads", name) if is_below(real, self._rules.secret) else None

    def _change(self, event: str, arguments: tuple[Any, ...]) -> tuple[str, str, str] | None:
        does, paths, folder_at = CHANGES[event]
        folder = arguments[folder_at] if folder_at is not None and folder_at < len(arguments) else -1
        for index in paths:
            if isinstance(arguments[index], int):
                continue
            if refused := self._written(arguments[index], does, folder):
                return refused
        return None

    def _written(self, path: Any, does: str, folder: Any = -1) -> tuple[str, str, str] | None:
        name = os.fsdecode(path)
        if not os.path.isabs(name) and isinstance(folder, int) and folder >= 0:
            if sys.platform != "linux":
                return None
            name = os.path.join(os.readlink(f"/proc/self/fd/{folder}"), name)
        # the last part may be a link that is meant itself
        parent, last = os.path.split(os.path.abspath(name))
        real = os.path.realpath(name) if does == "writes" else os.path.join(os.path.realpath(parent), last)
        if is_below(real, self._rules.writable) or is_below(real, SPECIAL):
            return None
        if does == "makes" and os.path.lexists(real):
            return None  # Inductor makes sure of the folder that it builds in; what is there is not made
        return "write", does, name

    def _signal(self, event: str, arguments: tuple[Any, ...]) -> tuple[str, str, str] | None:
        group_of: Any = SIGNALS[event]
        pid, number = arguments[:2]
        if number == 0 or group_of is None or pid == os.getpid():
            return None
        if pid > 0 and (group_of(pid) == os.getpgid(0) or _descends(pid)):
            return None
        return None if pid == 0 else ("process", "sends a signal to", f"process {pid}")

    def _start(self, event: str, arguments: tuple[Any, ...]) -> tuple[str, str, str] | None:
        command = arguments[0]
        words = command.split() if isinstance(command, str) else [command]
        name = os.path.basename(os.fsdecode(words[0])) if words else ""
        if any(name == known or name.startswith((f"{known}.", f"{known}-", f"{known}3")) for known in HARMLESS):
            return None
        return "process", "starts", name

    def _reach(self, event: str, arguments: tuple[Any, ...]) -> tuple[str, str, str] | None:
        address = arguments[1]
        if isinstance(address, (str, bytes)):  # a socket of this machine
            name = os.fsdecode(address)
            real = os.path.realpath(name)
            if not name or name.startswith("\0") or is_below(real, self._rules.writable):
                return None
            return "network", "talks to", name
        if not isinstance(address, tuple) or len(address) < 2 or isinstance(address[0], int):
            return None
        host = os.fsdecode(address[0])
        if self._rules.own_network and _is_here(host):
            return None
        return "network", "listens at" if event == "socket.bind" else "connects to", f"{host}:{address[1]}"

    def _create(self, _: str, arguments: tuple[Any, ...]) -> tuple[str, str, str] | None:
        family, kind = arguments[1:3]
        # a stream is told when it connects or listens: then it is known to whom
        if family not in INTERNET or kind & 0xF == STREAM:
            return None
        return "network", "opens", "a socket for datagrams" if kind & 0xF == DATAGRAM else "a raw socket"

    def _look_up(self, event: str, arguments: tuple[Any, ...]) -> tuple[str, str, str] | None:
        host = arguments[0]
        if host is None or _is_here(os.fsdecode(host)):
            return None
        return "network", "looks up", os.fsdecode(host)


def _positions(frame: FrameType | None) -> tuple[int, ...]:
    """What is the same for a call that is made again from the same lines."""
    found: list[int] = []
    while frame is not None and len(found) < MOST_FRAMES:
        found += (id(frame.f_code), frame.f_lineno)
        frame = frame.f_back
    return tuple(found)


def _is_probe(event: str, arguments: tuple[Any, ...]) -> bool:
    """Whether a library only asks for IPv6, as urllib3 does when it is imported (urllib3/util/connection.py): no news for a user."""
    return event == "socket.bind" and isinstance(arguments[1], tuple) and arguments[1][:2] == ("::1", 0)


def _is_here(host: str) -> bool:
    return host in ("", "localhost", "::1", "::", "0.0.0.0") or host.startswith("127.")


def _descends(pid: int) -> bool:
    """Whether process ``pid`` was started by this one, or by what it started (Linux)."""
    for _ in range(64):
        try:
            with open(f"/proc/{pid}/stat", "rb") as stat:
                pid = int(stat.read().rpartition(b")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            return False
        if pid == os.getpid():
            return True
    return False


def _keep_dynamo_out(*functions: Any) -> None:
    """Dynamo must not compile what runs here when a compiled region makes a call."""
    dynamo = sys.modules.get("torch._C._dynamo.eval_frame")
    skip = getattr(dynamo, "skip_code", None)
    for function in functions:
        if skip is not None and isinstance(function, FunctionType):
            skip(function.__code__)
