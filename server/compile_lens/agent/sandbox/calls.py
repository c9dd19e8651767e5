"""An audit hook: a forbidden call raises ``PermissionError`` and is reported with the user's line.

Where the kernel refuses the same call, the hook only gives a better message. On macOS and Windows it is the only restriction, and covers
Python's own functions but neither native code nor other programs.
"""

from __future__ import annotations

import contextlib
import errno
import os
import pathlib
import socket
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any

from ..runtime.dynamo_skips import outside_dynamo, skip_functions
from . import known_paths, other_processes, started_programs, unaudited_calls, unaudited_torch, windows_calls
from .known_paths import identities, identity, is_open, open_folders, path_of, special
from .passed_text import passed_text
from .policy import is_below

MESSAGE = "blocked by the Compile Lens sandbox"  # analysis/refused_calls.py looks for it
MAX_REPORTS = 40
MAX_FRAMES = 200
CHANGING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# event: (verb, for each argument that is a path its index and that of the descriptor of its folder)
CHANGES: dict[str, tuple[str, tuple[tuple[int, int | None], ...]]] = {
    "os.remove": ("deletes", ((0, 1),)), "os.rmdir": ("deletes", ((0, 1),)), "os.mkdir": ("creates", ((0, 2),)),
    "os.rename": ("renames", ((0, 2), (1, 3))), "os.link": ("links", ((1, 3),)), "os.symlink": ("links", ((1, 2),)),
    "os.truncate": ("truncates", ((0, None),)), "os.chmod": ("changes the mode of", ((0, 2),)),
    "os.chown": ("changes the owner of", ((0, 3),)), "os.utime": ("changes the times of", ((0, 3),)),
    "os.setxattr": ("changes the attributes of", ((0, None),)), "os.removexattr": ("changes the attributes of", ((0, None),)),
    "os.chflags": ("changes the flags of", ((0, None),)),
    unaudited_calls.FIFO: ("creates", ((0, 1),)), unaudited_calls.NODE: ("creates", ((0, 1),)),
    unaudited_torch.SAVES: ("writes", ((0, None),)),
}  # fmt: skip
# where the kernel lets a link be made to any file, it could be written through the link
LINKED = (0, 2)
# events that do not tell whether the call follows a link, as most do by default
FOLLOW_LINKS = {
    "os.truncate", "os.chmod", "os.chown", "os.utime", "os.setxattr", "os.removexattr", "os.chflags", "os.link",
}  # fmt: skip
# an interpreter beside this one asks none of its hooks, and that of Tcl neither
INTERPRETER = "cpython.PyInterpreterState_New"
WAITS_FOR_OTHERS = ("socket.bind", unaudited_calls.LISTENS)
# address families and socket types of the Internet
INTERNET, STREAM, DATAGRAM = (socket.AF_INET, socket.AF_INET6), socket.SOCK_STREAM, socket.SOCK_DGRAM
# within this machine; a socket that is made of a descriptor (-1) has been there before
ON_THIS_MACHINE = (getattr(socket, "AF_UNIX", -1), -1)
LOOKS_UP = ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo")
# what else changes the machine or tells others something: what is refused, what it does, and to what
ELSEWHERE = {
    "socket.sethostname": ("write", "writes", "the name of this machine"),
    "syslog.openlog": ("network", "connects to", "the system's log"),
    "syslog.syslog": ("network", "connects to", "the system's log"),
    **dict.fromkeys(
        (
            "winreg.CreateKey",
            "winreg.DeleteKey",
            "winreg.DeleteValue",
            "winreg.LoadKey",
            "winreg.SaveKey",
            "winreg.SetValue",
            "winreg.DisableReflectionKey",
            "winreg.EnableReflectionKey",
        ),
        ("write", "writes", "the registry"),
    ),
}
# what a look at arguments raises that it cannot read
UNREADABLE = (TypeError, ValueError, OSError, AttributeError, IndexError)
# what tells of a file without reading it; a walk over a home passes its secrets by, which is worth no report
LOOKS = ("os.listdir", "os.scandir", "os.getxattr", "os.listxattr")
PATHS = (pathlib.PosixPath, pathlib.WindowsPath, pathlib.PurePosixPath, pathlib.PureWindowsPath)
# as it was before the program
SOCKET = socket.socket


@dataclass(frozen=True, slots=True)
class Rules:
    """Where a program may write, what it may not read, and what it may connect to. Paths contain no links.

    ``no_streams``: the kernel refuses every Internet socket. ``shows_secrets``: they are there, though they cannot be read. ``services``
    listened where the program may write when it began.
    """

    writable: tuple[str, ...]
    secret: tuple[str, ...]
    network: bool
    own_network: bool
    processes: bool
    no_streams: bool = False
    shows_secrets: bool = False
    services: tuple[str, ...] = ()


Report = Callable[[str, str, str, FrameType], None]

# a database that a statement takes from a parameter or computes: sqlite does not tell which it is
NAMELESS = "a database that no text of the statement names"
# a connection whose statements would not be looked at
UNASKED = "databases by a class below `sqlite3.Connection`"


def install(rules: Rules, report: Report) -> None:
    """Restrict the calls of this interpreter for good. ``report(what, does, target, frame)`` is called for each refused call."""
    hook = _AuditHook(rules, outside_dynamo(report))
    # Dynamo must not trace what runs here when a compiled region makes a call
    skip_functions(
        *vars(_AuditHook).values(),
        _start_interpreter,
        _run_elsewhere,
        _is_local,
        _is_probe,
        passed_text,
        _positions,
        *vars(known_paths).values(),
        *vars(other_processes).values(),
        is_below,
        *vars(started_programs).values(),
        *vars(unaudited_calls).values(),
        *vars(unaudited_torch).values(),
        *vars(windows_calls).values(),
    )
    if not rules.processes:
        unaudited_calls.announce(hook.refuses_database)
        windows_calls.announce()
        if "torch" in sys.modules:
            unaudited_torch.announce()
    sys.addaudithook(hook.on_event)


class _AuditHook:
    def __init__(self, rules: Rules, report: Report) -> None:
        self._rules = rules
        self._report_refusal = report
        self._reported: set[tuple[str, tuple[int, ...]]] = set()
        self._busy = threading.local()
        self._secret = set()
        for path in rules.secret:
            with contextlib.suppress(OSError):
                self._secret.add(identity(path))
        self._checks: dict[str, Callable[[str, tuple[Any, ...]], tuple[str, str, str] | None]] = {"open": self._open}
        self._checks.update(dict.fromkeys(CHANGES, self._change))
        self._checks.update(dict.fromkeys(other_processes.SIGNALS, other_processes.reached))
        if rules.shows_secrets:
            self._checks.update(dict.fromkeys(LOOKS, self._look))
        if not rules.processes:
            self._checks.update(dict.fromkeys((*started_programs.STARTS, unaudited_calls.FORKS), self._start))
            self._checks.update(dict.fromkeys(ELSEWHERE, self._change_elsewhere))
            self._checks["sqlite3.connect"] = self._open_database
            self._checks["sqlite3.connect/handle"] = self._connect_to_database
            self._checks.update(dict.fromkeys((INTERPRETER, unaudited_calls.TCL), _start_interpreter))
            self._checks["os.putenv"] = self._set_variable
            self._checks["sys.remote_exec"] = _run_elsewhere
            self._checks.update(dict.fromkeys(other_processes.EVENTS, other_processes.reached))
            self._checks.update(dict.fromkeys(windows_calls.FILES, self._change_in_windows))
            self._checks.update(dict.fromkeys(windows_calls.OTHERS, windows_calls.refused_elsewhere))
        if not rules.network:
            connecting = ("socket.connect", *WAITS_FOR_OTHERS, "socket.sendto", "socket.sendmsg")
            self._checks.update(dict.fromkeys(connecting, self._connect))
            if not rules.own_network:
                self._checks["socket.__new__"] = self._create
            self._checks.update(dict.fromkeys(LOOKS_UP, self._look_up))

    def on_event(self, event: str, arguments: tuple[Any, ...]) -> None:
        check = self._checks.get(event)
        if check is None or getattr(self._busy, "now", False):
            return
        self._busy.now = True
        try:
            try:
                refused = check(event, arguments)
            except UNREADABLE:
                # the call itself may read them, or find a file where this found none; the kernel looks at it where it restricts it
                refused = (
                    None if self._rules.processes else ("process", "has arguments that cannot be checked in", event)
                )
            if refused is None:
                return
            with contextlib.suppress(*UNREADABLE):  # a report that cannot be made is no permission
                if event not in LOOKS and not _is_probe(event, arguments):
                    self._report(*refused)
        finally:
            self._busy.now = False
        raise PermissionError(errno.EACCES, MESSAGE, refused[2])

    def _report(self, what: str, does: str, target: str) -> None:
        frame = sys._getframe(2)
        key = (what, _positions(frame))
        if key not in self._reported and len(self._reported) < MAX_REPORTS:
            self._reported.add(key)
            self._report_refusal(what, does, target, frame)

    def _open(self, _: str, arguments: tuple[Any, ...]) -> tuple[str, str, str] | None:
        path, mode, flags = arguments[:3]
        if isinstance(path, int) or path is None:
            return None
        if not (isinstance(path, (str, bytes)) or type(path) in PATHS or self._rules.processes):
            return "write", "writes", passed_text(path)  # it is asked once more for its path, and may answer otherwise
        changes = bool(flags & CHANGING) if isinstance(flags, int) else False
        if isinstance(mode, str):
            changes = any(letter in mode for letter in "wax+")
        name = passed_text(path)
        # the event of ``os.open`` does not tell of which folder a relative path is
        is_relative = mode is None and not self._rules.processes and not os.path.isabs(name)
        for folder in (-1, *(open_folders() if is_relative else ())):
            if changes and (refused := self._written(name, "writes", folder)):
                return refused
            whole = os.path.join(path_of(folder) or "", name) if folder >= 0 else name
            if not changes and self._is_secret(whole):
                return "read", "reads", name
        return None

    def _is_secret(self, path: str) -> bool:
        real = os.path.realpath(path)
        if is_below(real, self._rules.secret):
            return True
        # where the kernel does not hide them: letters of the other case, and other names of the same file or folder
        return not self._rules.processes and (
            not self._secret.isdisjoint(identities(real)) or other_processes.is_private(path)
        )

    def _look(self, _: str, arguments: tuple[Any, ...]) -> tuple[str, str, str] | None:
        path = arguments[0]
        if isinstance(path, int):
            return None  # to open it was refused
        name = os.curdir if path is None else passed_text(path)
        return ("read", "reads", name) if self._is_secret(name) else None

    def _open_database(self, _: str, arguments: tuple[Any, ...]) -> tuple[str, str, str] | None:
        path = arguments[0]
        if not (isinstance(path, (str, bytes)) or type(path) in PATHS):
            return "write", "writes", f"the path of a {type(path).__name__} object"  # as above
        name = passed_text(path)
        if self._is_secret(unaudited_calls.database(name)):
            return "read", "reads", name
        made = unaudited_calls.database_made(name)
        return None if made is None else self._written(made, "writes")

    def _connect_to_database(self, _: str, arguments: tuple[Any, ...]) -> tuple[str, str, str] | None:
        return ("write", "writes", UNASKED) if unaudited_calls.asks_nothing(arguments[0]) else None

    def refuses_database(self, name: str | None) -> bool:
        """Whether a statement may not open the database ``name``, None if its text has none; reports it then."""
        refused = ("write", "writes", NAMELESS) if name is None else self._open_database("", (name,))
        if refused is not None:
            self._report(*refused)
        return refused is not None

    def _change(self, event: str, arguments: tuple[Any, ...]) -> tuple[str, str, str] | None:
        does, paths = CHANGES[event]
        if event == "os.link" and not self._rules.processes:
            paths = (LINKED, *paths)
        for index, folder_at in paths:
            target = arguments[index]
            folder = arguments[folder_at] if folder_at is not None and folder_at < len(arguments) else -1
            if isinstance(target, int):
                target = path_of(target) if is_open(target) else None
            # where the kernel restricts it, that looks at what a link leads to
            follows = event in FOLLOW_LINKS and not self._rules.processes
            if target is not None and (refused := self._written(target, does, folder, follows)):
                return refused
        return None

    def _written(self, path: Any, does: str, folder: Any = -1, follows: bool = False) -> tuple[str, str, str] | None:
        name = passed_text(path)
        if not os.path.isabs(name) and isinstance(folder, int) and folder >= 0:
            around = path_of(folder) if is_open(folder) else None
            if around is None:
                return None
            name = os.path.join(around, name)
        # the last part may be a link that is itself the target
        parent, last = os.path.split(os.path.abspath(name))
        real = os.path.realpath(name) if does == "writes" else os.path.join(os.path.realpath(parent), last)
        changed = {real, os.path.realpath(name)} if follows else {real}
        allowed = (*self._rules.writable, *special())
        if all(is_below(place, allowed) for place in changed):
            return None
        if does == "creates" and os.path.lexists(real):
            return None  # Inductor ensures that its build folder exists; nothing is created if it does
        return "write", does, name

    def _change_in_windows(self, event: str, arguments: tuple[Any, ...]) -> tuple[str, str, str] | None:
        for path, does in windows_calls.changed_files(event, arguments):
            if refused := self._written(path, does):
                return refused
        read = next((path for path in windows_calls.read_files(event, arguments) if self._is_secret(path)), None)
        return None if read is None else ("read", "reads", read)

    def _set_variable(self, _: str, arguments: tuple[Any, ...]) -> tuple[str, str, str] | None:
        name, value = map(passed_text, arguments[:2])
        if not value:
            return None
        if name in unaudited_torch.VARIABLES_OF_FILES:
            return self._written(value, "writes")
        starts = name in unaudited_torch.VARIABLES_OF_PROGRAMS
        is_refused = starts and not started_programs.is_harmless(os.path.basename(value))
        return ("process", "starts", value) if is_refused else None

    def _change_elsewhere(self, event: str, _: tuple[Any, ...]) -> tuple[str, str, str]:
        return ELSEWHERE[event]

    def _start(self, event: str, arguments: tuple[Any, ...]) -> tuple[str, str, str] | None:
        name = started_programs.refused_program(event, arguments)
        return None if name is None else ("process", "starts", name)

    def _connect(self, event: str, arguments: tuple[Any, ...]) -> tuple[str, str, str] | None:
        address = arguments[1]
        if address is None:
            return None  # a message goes to where the socket is connected (socket.sendmsg)
        if not isinstance(address, tuple):  # of a local socket
            name = passed_text(address)
            real = os.path.realpath(name)
            is_own = is_below(real, self._rules.writable) and real not in self._rules.services
            if not name or name.startswith("\0") or is_own:
                return None
            return "network", "connects to", name
        address = tuple.__getitem__(address, slice(None))  # as it is, whatever its class says
        if len(address) < 2 or isinstance(address[0], int):
            return None
        host = passed_text(address[0])
        if self._rules.own_network and _is_local(host):
            return None
        return "network", "listens on" if event in WAITS_FOR_OTHERS else "connects to", f"{host}:{address[1]}"

    def _create(self, _: str, arguments: tuple[Any, ...]) -> tuple[str, str, str] | None:
        made, family, kind = arguments[:3]
        if family not in INTERNET:
            # others lead to machines and drivers; where the kernel restricts them, it answers
            is_known = self._rules.processes or family in ON_THIS_MACHINE
            return None if is_known else ("network", "opens", "a socket of another kind")
        # where the kernel does not, a stream is checked when it connects or listens, when its address is known
        if kind & 0xF == STREAM:
            # what the class in C listens by asks nothing, and could not be changed
            is_checked = self._rules.processes or isinstance(made, SOCKET)
            return None if is_checked and not self._rules.no_streams else ("network", "opens", "an Internet socket")
        return "network", "opens", "a datagram socket" if kind & 0xF == DATAGRAM else "a raw socket"

    def _look_up(self, event: str, arguments: tuple[Any, ...]) -> tuple[str, str, str] | None:
        host = arguments[0][0] if event == "socket.getnameinfo" else arguments[0]
        if host is None or _is_local(passed_text(host)):
            return None
        return "network", "looks up", passed_text(host)


def _start_interpreter(*_: Any) -> tuple[str, str, str]:
    return "process", "starts", "an interpreter without a sandbox"


def _run_elsewhere(_: str, arguments: tuple[Any, ...]) -> tuple[str, str, str] | None:
    """``sys.remote_exec``: another interpreter runs a script."""
    pid = int(arguments[0])
    return None if pid == os.getpid() else ("process", "runs code in", f"process {pid}")


def _positions(frame: FrameType | None) -> tuple[int, ...]:
    """A key that is equal for repeated calls from the same lines."""
    found: list[int] = []
    while frame is not None and len(found) < MAX_FRAMES:
        found += (id(frame.f_code), frame.f_lineno)
        frame = frame.f_back
    return tuple(found)


def _is_probe(event: str, arguments: tuple[Any, ...]) -> bool:
    """Whether a library only probes for IPv6, as urllib3 does when it is imported (urllib3/util/connection.py); not worth a report."""
    if event == "socket.__new__":
        return bool(arguments[1] == socket.AF_INET6)
    return event == "socket.bind" and isinstance(arguments[1], tuple) and arguments[1][:2] == ("::1", 0)


def _is_local(host: str) -> bool:
    return host in ("", "localhost", "::1", "::", "0.0.0.0") or host.startswith("127.")
