"""Imports in a process that is not confined: nothing but installed code runs, and it changes nothing outside of the process."""

from __future__ import annotations

import contextlib
import functools
import importlib.machinery
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

from .dynamo_skips import skip_functions
from .installed_imports import lies_in_repository

# audit events of Python (its documentation: "Audit events table") by which code reaches what is outside of this process
REACHES_OUT = frozenset(
    f"{module}.{name}"
    for module, names in {
        "os": (
            "chflags chmod chown exec fork forkpty fwalk kill killpg link lockf mkdir posix_spawn putenv remove removexattr "
            "rename rmdir setxattr spawn startfile startfile/2 symlink system truncate unsetenv utime"
        ),
        "socket": "bind connect getaddrinfo gethostbyaddr gethostbyname getnameinfo sendmsg sendto sethostname",
        "winreg": "ConnectRegistry CreateKey DeleteKey DeleteValue DisableReflectionKey EnableReflectionKey LoadKey SaveKey SetValue",
        "_winapi": "CopyFile2 CreateJunction CreateProcess TerminateProcess",
        "subprocess": "Popen",
        "sqlite3": "connect",
        "webbrowser": "open",
        # its code would ask none of the hooks of this one
        "cpython": "PyInterpreterState_New",
        "signal": "pthread_kill",
        "sys": "remote_exec",
        "syslog": "openlog syslog",
        "tempfile": "mkdtemp mkstemp",
        "_thread": "start_new_thread start_joinable_thread",
    }.items()
    for name in names.split()
)
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


@contextlib.contextmanager
def guarded_imports(roots: tuple[str, ...], refuse: Callable[[str], None]) -> Iterator[None]:
    """Call ``refuse``, which must not return, before code in this block reaches out, or code from outside of the folders ``roots`` runs.

    This is for code that the user has installed, which a plain run would import with all of the user's rights: it keeps such an import
    from doing more than to define things, not a hostile library from what libraries can do.
    """
    active = True

    def on_event(event: str, arguments: tuple[Any, ...]) -> None:
        if active and (reason := _why_not(event, arguments, roots)):
            refuse(reason)

    skip_functions(on_event)
    sys.addaudithook(on_event)
    finder = _InstalledOnly(roots, refuse)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        active = False
        sys.meta_path.remove(finder)


class _InstalledOnly:
    """Refuses modules of other places before any of their code is read; it finds none itself."""

    def __init__(self, roots: tuple[str, ...], refuse: Callable[[str], None]) -> None:
        self._roots = roots
        self._refuse = refuse

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        """Called by each import."""
        for finder in sys.meta_path:
            spec = finder.find_spec(name, path, target) if finder is not self else None
            if spec is not None:
                if spec.has_location and (reason := _why_not_from(str(spec.origin), self._roots)):
                    self._refuse(reason)
                return spec
        return None


def _why_not(event: str, arguments: tuple[Any, ...], roots: tuple[str, ...]) -> str:
    if event in REACHES_OUT:
        # urllib3 tries in this way, when it is imported, whether there is IPv6
        is_trial = event == "socket.bind" and arguments[1][:2] in (("::1", 0), ("127.0.0.1", 0))
        return "" if is_trial else event
    if event == "open":
        path, _, flags = arguments
        return f"open {path}" if flags & WRITES and path != os.devnull else ""
    if event == "exec":
        return _why_not_from(getattr(arguments[0], "co_filename", ""), roots)
    if event == "import" and isinstance(arguments[1], str):  # the file of an extension module
        return _why_not_from(arguments[1], roots)
    if event == "ctypes.dlopen" and isinstance(arguments[0], (str, bytes)):
        library = os.fsdecode(arguments[0])
        # a bare name is the system's to find; a path may be what a variable of the workspace says
        return _why_not_from(os.path.abspath(library), roots) if os.path.dirname(library) else ""
    return ""


def _why_not_from(file: str, roots: tuple[str, ...]) -> str:
    # generated code has such a name: of dataclasses, named tuples, frozen modules
    is_known = (file.startswith("<") and file.endswith(">")) or _is_installed(os.path.normpath(file), roots)
    return "" if is_known else f"code of {file}"


@functools.cache
def _is_installed(file: str, roots: tuple[str, ...]) -> bool:
    """Whether it lies in one of the folders, and not by a link to somebody's sources, as some editable installs make one."""
    real = os.path.realpath(file)
    leads_elsewhere = real != file and not real.startswith(
        tuple(os.path.join(os.path.realpath(root), "") for root in roots)
    )
    return file.startswith(roots) and not (leads_elsewhere and lies_in_repository(os.path.dirname(real)))
