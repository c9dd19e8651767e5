"""Calls of Windows that open files, reach other processes and connect without Python's usual functions.

Events and arguments are those of CPython's ``Modules/_winapi.c`` and ``Modules/winreg.c`` (3.10 to 3.14). ``_overlapped``, by which asyncio
connects on Windows, raises none; its functions are made to raise that of ``socket.connect``.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from ..instrument.import_hook import change_at_import
from ..runtime.dynamo_skips import skip_functions
from .passed_text import passed_text

FILES = ("_winapi.CreateFile", "_winapi.CopyFile2", "_winapi.CreateJunction")
OTHERS = ("_winapi.OpenProcess", "winreg.ConnectRegistry")
# rights to a file with which it can be changed: GENERIC_WRITE, GENERIC_ALL, MAXIMUM_ALLOWED, to delete it, its access list, its owner, its
# data (write, append), extended attributes, folders' entries, and attributes (winnt.h)
CHANGES_FILE = 0x40000000 | 0x10000000 | 0x02000000 | 0x10000 | 0x40000 | 0x80000 | 0x2 | 0x4 | 0x10 | 0x40 | 0x100
# a disposition that neither makes nor empties a file (fileapi.h)
OPEN_EXISTING = 3
# rights to a process with which it can be ended or changed: terminate, threads, memory, information, quota, suspend (winnt.h)
CHANGES_PROCESS = 0x1 | 0x2 | 0x8 | 0x20 | 0x100 | 0x200 | 0x800
# names of pipes, by which processes of multiprocessing and asyncio speak: no files
PIPES = "\\\\.\\pipe\\"


def changed_files(event: str, arguments: tuple[Any, ...]) -> Iterator[tuple[str, str]]:
    """The paths that a call of ``FILES`` would change, each with what it does."""
    if event == "_winapi.CreateFile":
        path, rights, _, disposition = arguments[:4]
        name = passed_text(path)
        if (rights & CHANGES_FILE or disposition != OPEN_EXISTING) and not name.lower().startswith(PIPES):
            yield name, "writes"
    else:
        yield passed_text(arguments[1]), "links" if event == "_winapi.CreateJunction" else "writes"


def read_files(event: str, arguments: tuple[Any, ...]) -> Iterator[str]:
    """The paths that it would read."""
    if event != "_winapi.CreateJunction":  # which reads nothing by itself
        yield passed_text(arguments[0])


def refused_elsewhere(event: str, arguments: tuple[Any, ...]) -> tuple[str, str, str] | None:
    """What is refused of a call of ``OTHERS``."""
    if event == "winreg.ConnectRegistry":
        computer = arguments[0]
        return None if computer is None else ("network", "connects to", passed_text(computer))
    pid, rights = arguments[:2]
    is_harmless = pid == os.getpid() or not rights & CHANGES_PROCESS
    return None if is_harmless else ("process", "sends a signal to", f"process {pid}")


def announce() -> None:
    """Have ``_overlapped`` raise events from now on."""
    change_at_import({"_overlapped": _announce_connecting})


def _announce_connecting(module: ModuleType) -> None:
    module.Overlapped = _announcing(module.Overlapped)  # type: ignore[attr-defined]  # a private module
    connect = module.WSAConnect

    @functools.wraps(connect)
    def announced(descriptor: int, address: Any) -> Any:
        sys.audit("socket.connect", None, address)
        return connect(descriptor, address)

    skip_functions(announced)
    module.WSAConnect = announced  # type: ignore[attr-defined]


def _announcing(overlapped: Callable[..., Any]) -> type[Any]:
    """A class in the place of ``overlapped``, which can be neither changed nor inherited from."""

    class Overlapped:
        """An operation of the system's, all of whose attributes are those of the real one."""

        def __init__(self, *given: Any) -> None:
            self._real = overlapped(*given)

        def __getattr__(self, name: str) -> Any:
            return getattr(self._real, name)

        def ConnectEx(self, descriptor: int, address: Any) -> Any:  # noqa: N802 - as the module in C calls it
            """Connect a socket."""
            sys.audit("socket.connect", None, address)
            return self._real.ConnectEx(descriptor, address)

        def WSASendTo(self, descriptor: int, data: Any, flags: int, address: Any) -> Any:  # noqa: N802 - as the module in C calls it
            """Send to an address."""
            sys.audit("socket.sendto", None, address)
            return self._real.WSASendTo(descriptor, data, flags, address)

        def ConnectPipe(self, address: str) -> Any:  # noqa: N802 - as the module in C calls it
            """Open what should be a pipe, and may be any file, to read and write it."""
            sys.audit("_winapi.CreateFile", address, CHANGES_FILE, 0, OPEN_EXISTING, 0)
            return self._real.ConnectPipe(address)

    skip_functions(*vars(Overlapped).values())
    return Overlapped
