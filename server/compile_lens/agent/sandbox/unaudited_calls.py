"""Calls that Python makes without asking its audit hooks ask them here.

Only where nothing but the hook restricts a program (agent/sandbox/calls.py).
"""

from __future__ import annotations

import functools
import importlib
import operator
import os
import signal
import socket
import subprocess
import sys
import types
import urllib.parse
from collections.abc import Callable
from types import ModuleType
from typing import Any

from ..instrument.import_hook import change_at_import
from ..runtime.dynamo_skips import skipped
from .passed_text import passed_text

# events of ours: a path and the descriptor of its folder; a socket and its address; the number of a process, and of the signal, or of
# the group; a program; nothing
FIFO, NODE, LISTENS, SIGNALS, JOINS, FORKS, TCL = (
    f"compile_lens.{name}" for name in ("mkfifo", "mknod", "listen", "pidfd_send_signal", "setpgid", "fork_exec", "tcl")
)
# the argument after the name says how: by these letters, a database is read alone
BY_FLAG = "flag"
READS_ALONE = "r"
# functions that open a file in C or Rust: which argument its name is, and how it is opened
OPENING: dict[str, dict[str, tuple[int, str]]] = {
    # those of others who have imported it already, in a copy of the standby
    **{name: {"serialize_file": (1, "w")} for name in ("safetensors", "safetensors.torch", "safetensors.numpy")},
    "readline": {
        "read_init_file": (0, "r"), "read_history_file": (0, "r"), "write_history_file": (0, "w"), "append_history_file": (1, "a"),
    },
    # of databases, as modules in C and as what packages call them
    **{name: {"open": (0, BY_FLAG)} for name in ("_gdbm", "_dbm", "dbm.gnu", "dbm.ndbm")},
    "_ssl": {"_test_decode_cert": (0, "r")},
    # installers and archives of Windows, until Python 3.12
    "_msi": {"OpenDatabase": (0, "r+"), "FCICreate": (0, "w")},
}  # fmt: skip
# of a class for certificates, which methods read files that their first two arguments name
CERTIFICATES = {"load_cert_chain": ("certfile", "keyfile"), "load_verify_locations": ("cafile", "capath")}
# what a module in C calls the same function
NAME_IN_C = {"os": os.name, "signal": "_signal"}
# of readline, where no file is named
HISTORY = "~/.history"
# a database that sqlite does not make where there is none
ONLY_THOSE_THERE = {"mode=ro", "mode=rw", "mode=memory"}
# what sqlite asks before a statement opens another database, of which VACUUM INTO is one (sqlite3.h; Python 3.10 has no names for it all)
ATTACHES, ALLOWED, DENIED = 24, 0, 1
DATABASES = ("_sqlite3", "sqlite3.dbapi2", "sqlite3")
# how many follow the kind of an action that opens a file
OPEN_ACTION = 4
# which argument of ``connect`` the class of its connection is
FACTORY = 5


def announce(refuses_database: Callable[[str | None], bool]) -> None:
    """Have these functions raise events from now on. ``refuses_database`` says whether a database of that name, None if its statement has
    none, is not to be opened."""
    for name, event in (("mkfifo", FIFO), ("mknod", NODE)):
        if hasattr(os, name):
            _replace(os, name, _making(getattr(os, name), event))
    for name in ("posix_spawn", "posix_spawnp"):
        if hasattr(os, name):
            _replace(os, name, _spawning(getattr(os, name)))
    if hasattr(signal, "pidfd_send_signal"):
        _replace(signal, "pidfd_send_signal", _signaling(signal.pidfd_send_signal))
    if hasattr(os, "setpgid"):
        _replace(os, "setpgid", _joining(os.setpgid))
    setattr(socket.socket, "listen", _listening(socket.socket.listen))  # noqa: B010 - a method
    if os.name == "posix":
        # what subprocess starts is audited; multiprocessing starts programs without it
        starting = importlib.import_module("_posixsubprocess")
        known_as, fork_exec = getattr(subprocess, "_fork_exec", None), _starting(starting.fork_exec)
        setattr(starting, "fork_exec", fork_exec)  # noqa: B010 - a private module
        if known_as is not None:
            setattr(subprocess, "_fork_exec", fork_exec)  # noqa: B010 - since Python 3.11
    change_at_import({name: functools.partial(_announce_opening, functions) for name, functions in OPENING.items()})
    change_at_import({"_tkinter": _announce_tcl, "ssl": _announce_certificates})
    if "_sqlite3" in sys.modules:
        _older_classes.append(sys.modules["_sqlite3"].Connection)
    databases = functools.partial(_ask_before_attaching, functools.cache(functools.partial(_asking, refuses_database)))
    change_at_import(dict.fromkeys(DATABASES, databases))


def _replace(module: ModuleType, name: str, announced: Callable[..., Any]) -> None:
    """Put ``announced`` in the place of a function, also where the module in C has it."""
    for known_as in (module, sys.modules.get(NAME_IN_C[module.__name__])):
        if hasattr(known_as, name):
            setattr(known_as, name, announced)


def _announce_certificates(module: ModuleType) -> None:
    """OpenSSL reads certificates and keys itself."""
    for name, paths in CERTIFICATES.items():
        method = getattr(module.SSLContext, name)
        if not hasattr(method, "__wrapped__"):
            setattr(module.SSLContext, name, _reading(method, paths))


def _announce_opening(functions: dict[str, tuple[int, str]], module: ModuleType) -> None:
    for name, (index, mode) in functions.items():
        function = getattr(module, name, None)
        if function is not None and not hasattr(function, "__wrapped__"):
            setattr(module, name, _opening(function, index, mode))


def _announce_tcl(module: ModuleType) -> None:
    """Tcl opens files, starts programs and connects, and asks no hook."""
    create = module.create

    @functools.wraps(create)
    def announced(*given: Any, **named: Any) -> Any:
        sys.audit(TCL)
        return create(*given, **named)

    setattr(module, "create", skipped(announced))  # noqa: B010 - a private module


def _ask_before_attaching(asking: Callable[..., type[Any]], module: ModuleType) -> None:
    """A statement opens other databases, too."""
    if hasattr(module.connect, "__wrapped__"):
        return  # it has these names from another one that was changed before
    connect, connection = module.connect, asking(module.Connection)

    @functools.wraps(connect)
    def asked(*given: Any, **named: Any) -> Any:
        return connect(*given, **(named if len(given) > FACTORY else {"factory": connection, **named}))

    setattr(module, "connect", skipped(asked))  # noqa: B010 - any module
    setattr(module, "Connection", connection)  # noqa: B010


def _asking(refuses: Callable[[str | None], bool], connection: type[Any]) -> type[Any]:
    """``connection``, whose authorizer is ours: one of the program's is asked after it."""

    def answer(action: int, name: str | None, *_: Any) -> int:
        # one in memory has no name
        return DENIED if action == ATTACHES and name != "" and refuses(name) else ALLOWED

    def begin(self: Any, *given: Any, **named: Any) -> None:
        connection.__init__(self, *given, **named)
        connection.set_authorizer(self, skipped(answer))

    @functools.wraps(connection.set_authorizer)
    def set_authorizer(self: Any, authorizer_callback: Any) -> None:
        def both(*asked: Any) -> Any:
            return DENIED if answer(*asked) == DENIED else authorizer_callback(*asked)

        connection.set_authorizer(self, skipped(answer if authorizer_callback is None else both))

    members = {
        "__init__": skipped(begin),
        "set_authorizer": skipped(set_authorizer),
        "__module__": connection.__module__,
        "__doc__": connection.__doc__,
    }
    made = types.new_class(connection.__name__, (connection,), exec_body=lambda body: body.update(members))
    _asking_classes.append(made)
    return made


_asking_classes: list[type[Any]] = []


def asks_nothing(connection: Any) -> bool:
    """Whether a connection to a database is of the class that ours is made of, and whoever made it can have that from ours alone."""
    return bool(_asking_classes) and not isinstance(connection, (*_asking_classes, *_older_classes))


# where packages have imported it before, their names for it are older than ours
_older_classes: list[type[Any]] = []


def _making(make: Callable[..., Any], event: str) -> Callable[..., Any]:
    @functools.wraps(make)
    def announced(path: Any, *others: Any, **named: Any) -> Any:
        # asked once: it may be another path the next time
        path = os.fspath(path)
        folder = named.get("dir_fd")
        sys.audit(event, path, -1 if folder is None else folder)
        return make(path, *others, **named)

    return skipped(announced)


def _signaling(send: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(send)
    def announced(descriptor: int, number: int, *others: Any, **named: Any) -> Any:
        sys.audit(SIGNALS, _process(descriptor), number)
        return send(descriptor, number, *others, **named)

    return skipped(announced)


def _joining(join: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(join)
    def announced(pid: int, group: int, /) -> None:
        # asked once: they may be others the next time
        pid, group = operator.index(pid), operator.index(group)
        sys.audit(JOINS, pid, group)
        return join(pid, group)

    return skipped(announced)


def _listening(listen: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(listen)
    def announced(self: socket.socket, *backlog: Any) -> Any:
        # a socket without an address gets one of the kernel's
        if self.family in (socket.AF_INET, socket.AF_INET6):
            sys.audit(LISTENS, self, self.getsockname() if os.name == "posix" else ("", 0))
        return listen(self, *backlog)

    return skipped(announced)


def _opening(function: Callable[..., Any], index: int, mode: str) -> Callable[..., Any]:
    @functools.wraps(function)
    def announced(*given: Any, **named: Any) -> Any:
        path = given[index] if len(given) > index else named.get("filename")
        # asked once: it may be another path the next time
        path = os.path.expanduser(HISTORY) if path is None else os.fspath(path)
        # as Python raises it of what it opens itself, and of readline since 3.14
        sys.audit("open", path, _mode(given[index + 1 :]) if mode is BY_FLAG else mode, 0)
        if len(given) > index:
            given = (*given[:index], path, *given[index + 1 :])
        elif "filename" in named:
            named["filename"] = path
        return function(*given, **named)

    return skipped(announced)


def _mode(flags: tuple[Any, ...]) -> str:
    """How a database is opened by the argument after its name; without one, it is read."""
    return "r" if not flags or passed_text(flags[0])[:1] == READS_ALONE else "r+"


def _reading(method: Callable[..., Any], names: tuple[str, ...]) -> Callable[..., Any]:
    @functools.wraps(method)
    def announced(self: Any, *given: Any, **named: Any) -> Any:
        # asked once: they may be other paths the next time
        paths = [path if path is None else os.fspath(path) for path in given[: len(names)]]
        named.update((name, os.fspath(named[name])) for name in names if named.get(name) is not None)
        for path in (*paths, *map(named.get, names)):
            if path is not None:
                sys.audit("open", path, "r", 0)
        return method(self, *paths, *given[len(names) :], **named)

    return skipped(announced)


def _starting(start: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(start)
    def announced(line: Any, programs: Any, *others: Any) -> Any:
        programs = list(programs)
        for program in programs:
            sys.audit(FORKS, program)
        return start(line, programs, *others)

    return skipped(announced)


def _spawning(spawn: Callable[..., Any]) -> Callable[..., Any]:
    """What it starts is audited; the files that it opens for that are not."""

    @functools.wraps(spawn)
    def announced(*given: Any, file_actions: Any = (), **named: Any) -> Any:
        return spawn(*given, file_actions=list(map(_opened, file_actions or ())), **named)

    return skipped(announced)


def _opened(action: Any) -> Any:
    """An action of ``posix_spawn``, announced if it opens a file: its kind, the descriptor, the path, flags, and a mode."""
    if not isinstance(action, tuple):
        return action  # which is refused
    kind, *others = tuple.__getitem__(action, slice(None))  # as it is, whatever its class says
    # asked once: they may be others the next time
    if (kind := operator.index(kind)) == os.POSIX_SPAWN_OPEN and len(others) == OPEN_ACTION:
        descriptor, path, flags, mode = others
        path, flags = os.fspath(path), operator.index(flags)
        sys.audit("open", path, None, flags)
        others = [descriptor, path, flags, mode]
    return (kind, *others)


def _process(descriptor: int) -> int:
    """The number of the process that ``descriptor`` is of; -1 for one that has ended, or is none."""
    with open(f"/proc/self/fdinfo/{int(descriptor)}") as facts:
        return next((int(line.split()[1]) for line in facts if line.startswith("Pid:")), -1)


def database(name: str) -> str:
    """The path that the name of a database stands for; sqlite reads some as addresses."""
    return urllib.parse.unquote(urllib.parse.urlsplit(name).path) if name.startswith("file:") else name


def database_made(name: str) -> str | None:
    """The file of the database ``name`` if opening it makes one; None for one that is there, in memory, or not to be made."""
    options = name.partition("?")[2].split("&") if name.startswith("file:") else []
    path = database(name)
    is_none = path in ("", ":memory:") or not ONLY_THOSE_THERE.isdisjoint(options)
    return None if is_none or os.path.exists(path) else path
