"""Runs the user's file as ``__main__``, the way ``python FILE ARGUMENTS`` does."""

from __future__ import annotations

import contextlib
import importlib
import importlib.machinery
import os
import re
import sys
import threading
import types
from collections.abc import Callable, Sequence

from .entry_plans import EntryPlan
from .entry_protocol import RunAsModule
from .program_text import read, remember
from .protocol import FileUnreadable, ProgramDone
from .raised import report, run_exit_functions, watch_threads
from .wire import Wire

_unsaved = ""  # the file, if its text on disk is not what runs


def run(
    file: str,
    text: str | None,
    argv: Sequence[str],
    wire: Wire,
    own_folder: str,
    plan: EntryPlan | None = None,
    at_end: Callable[[], object] = lambda: None,
) -> int:
    """Run ``file`` (or ``text``, unsaved, in its place); report how it ended as ``raised`` or ``done``; return the exit code.

    ``plan`` says how, where it is not to be run as a script. ``at_end`` is called when the program has
    come to its end, before its threads and what it registered for its exit.
    """
    global _unsaved
    source = text
    if source is None:
        try:
            source = read(file)
        except (OSError, SyntaxError, UnicodeError) as error:
            wire.tell(FileUnreadable(f"{error}"))
            return 1
    remember(file, source)
    watch_threads(wire, own_folder)
    _unsaved = file if text is not None else ""
    sys.argv = [file, *argv]
    sys.orig_argv[:] = [sys.executable, *sys.argv]
    if plan is None:
        folder, name = _as_module(file, source)
        # `python -m` looks in the folder of the package first: a file of the name of the package may stand beside this one
        sys.path[:0] = [folder, os.path.dirname(file)] if name else [os.path.dirname(file)]
        code = guarded(lambda: _run_script(file, source, name, folder, wire), wire, own_folder)
    else:
        from ..inputs import dispatch

        code = guarded(lambda: dispatch.run(plan, file, source, wire), wire, own_folder)
    at_end()
    # what the interpreter does at its end, without tearing torch down: the process is gone right after
    endings: tuple[Callable[[], object], ...] = (
        lambda: threading._shutdown(),  # type: ignore[attr-defined]
        lambda: run_exit_functions(wire, own_folder),
        lambda: sys.stdout.flush(),
        lambda: sys.stderr.flush(),
    )
    for finish in endings:
        # threads, exit functions and streams of the program may raise anything, SystemExit too; Python ends all the same
        with contextlib.suppress(BaseException):
            finish()
    return code


def _as_module(file: str, source: str) -> tuple[str, str]:
    """The folder of the package that a script is a part of, and its name there, if its own imports need one: then it runs as `python -m`
    does."""
    from ..inputs.importing.module import package_of

    folder, name = package_of(file, source)
    package = name.rpartition(".")[0]
    top = re.escape(name.partition(".")[0])
    if not package or not re.search(rf"^\s*(?:from\s*\.|(?:from|import)\s+{top}\b)", source, re.MULTILINE):
        return "", ""
    return folder, name


def _run_script(file: str, source: str, name: str, folder: str, wire: Wire) -> None:
    package = name.rpartition(".")[0] or None
    if package is not None:
        wire.tell(RunAsModule(name, folder, _why_not_imported(package)))
    run_main(file, source, package)


def _why_not_imported(package: str) -> str:
    """Import ``package`` as `python -m` does first (runpy.py), since what it imports may resolve a circle that the file runs into; say why
    it cannot be. The file may run all the same."""
    try:
        importlib.import_module(package)
    except Exception as error:  # the program's code may raise anything
        return f"{type(error).__name__}: {error}"
    return ""


def run_main(file: str, source: str, package: str | None = None) -> None:
    """Run ``source`` as the module ``__main__``, of ``package`` if it is given. Raises what it raises."""
    main = types.ModuleType("__main__")
    loader = importlib.machinery.SourceFileLoader("__main__", file)
    main.__dict__.update(__file__=file, __cached__=None, __spec__=None, __loader__=loader)
    if package is not None:
        main.__package__ = package
    main.__dict__["__builtins__"] = sys.modules["builtins"]
    if sys.version_info < (3, 14):
        main.__annotations__ = {}
    sys.modules["__main__"] = main
    exec(compile(source, file, "exec", dont_inherit=True), main.__dict__)


def guarded(action: Callable[[], object], wire: Wire, own_folder: str) -> int:
    """Do ``action`` and report how it ended; the exit code."""
    try:
        try:
            action()
        finally:
            _flush()  # before an error is shown, as Python does
    except SystemExit as end:
        return _end_by_system_exit(end, wire, own_folder)
    except BaseException as error:  # the program may raise anything; how it ended is reported
        report(error, wire, own_folder, _unsaved)
        return 1
    wire.tell(ProgramDone())
    return 0


def _flush() -> None:
    for stream in (sys.stderr, sys.stdout):
        with contextlib.suppress(BaseException):  # streams of the program's may raise anything
            stream.flush()


def _end_by_system_exit(end: SystemExit, wire: Wire, own_folder: str) -> int:
    if end.code is None or end.code == 0:
        wire.tell(ProgramDone())
        return 0
    if not isinstance(end.code, int):
        print(end.code, file=sys.stderr)
    report(end, wire, own_folder, _unsaved)
    return end.code if isinstance(end.code, int) else 1
