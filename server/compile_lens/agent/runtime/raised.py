"""Reports what a program raised: the exception that ended it, or one that a thread or an import raised while the run went on."""

from __future__ import annotations

import atexit
import contextlib
import sys
import threading
import traceback
from collections.abc import Callable
from typing import Any

from ..instrument.graph_lines import lines_of_graph
from ..instrument.stacks import summary_stack
from ..substitutes.cuda.usage import is_of_device
from .degraded import degraded
from .libraries import library_roots
from .missing_requirement import find_missing_requirement
from .protocol import MissingRequirementReport, ProgramRaised, RaisedAside, StackLine
from .uncaught import drop_own_frames, show
from .wire import Wire

MAX_MESSAGE = 20_000
MAX_ASIDE = 100

_aside = 0  # how many did not end the run


def report(error: BaseException, wire: Wire, own_folder: str, unsaved: str = "") -> None:
    """Send the exception that ended the program, with columns, and show it as Python does, both without frames of ours.

    ``unsaved`` is the file whose text on disk is not what runs, or ''.
    """
    wire.tell(_raised(error, own_folder))
    if not isinstance(error, SystemExit):
        with contextlib.suppress(Exception):  # the same
            show(error, unsaved)


def report_aside(error: BaseException, wire: Wire, own_folder: str, where: str, name: str = "") -> None:
    """Send an exception that did not end the run: of the import of the file, or of the thread or exit function ``name``."""
    global _aside
    _aside += 1
    if _aside > MAX_ASIDE:
        degraded("further exceptions of threads and exit functions", f"{MAX_ASIDE} are reported")
        return
    wire.tell(RaisedAside(where, _raised(error, own_folder), name))


def watch_threads(wire: Wire, own_folder: str) -> None:
    """Report the exceptions that end threads, unless the program handles them itself. ``threading.excepthook`` stays as it is."""
    make: Callable[[], Callable[[Any], object]] | None = getattr(threading, "_make_invoke_excepthook", None)
    if make is None:
        return
    make_hook = make

    def make_reporting() -> Callable[[Any], object]:
        invoke = make_hook()

        def reported(thread: Any) -> object:
            error = sys.exc_info()[1]
            if (
                error is not None
                and not isinstance(error, SystemExit)
                and threading.excepthook is threading.__excepthook__
            ):
                report_aside(error, wire, own_folder, "thread", str(thread.name))
            return invoke(thread)

        return reported

    threading._make_invoke_excepthook = make_reporting  # type: ignore[attr-defined]


def run_exit_functions(wire: Wire, own_folder: str) -> None:
    """Call what was registered with ``atexit``. Python shows an exception in one of them, calls the others and keeps the exit code.

    Those of libraries are not the user's to mend, and fail where a program has taken away what they need.
    """
    show_ignored = sys.unraisablehook
    libraries = library_roots()

    def reported(ignored: Any) -> None:
        error = ignored.exc_value
        is_of_atexit = "atexit" in (ignored.err_msg or "")
        is_told = is_of_atexit and error is not None and not isinstance(error, SystemExit)
        if is_told and not _file_of(ignored.object).startswith(libraries):
            report_aside(error, wire, own_folder, "atexit", _name_of(ignored.object))
        show_ignored(ignored)

    if show_ignored is sys.__unraisablehook__:  # a hook of the program's handles it
        sys.unraisablehook = reported
    atexit._run_exitfuncs()


def _name_of(function: Any) -> str:
    try:
        return str(getattr(function, "__name__", ""))
    except Exception:  # an object of the program's that can be called
        return ""


def _file_of(function: Any) -> str:
    """The file in which ``function`` is written; '' for what has no code in Python."""
    try:
        function = getattr(function, "__func__", function)
        return str(getattr(getattr(function, "__code__", None), "co_filename", ""))
    except Exception:  # the same
        return ""


def _raised(error: BaseException, own_folder: str) -> ProgramRaised:
    try:
        return _described(error, own_folder)
    except Exception as problem:  # the program has replaced what is needed for that, or its exception cannot be printed
        degraded("the place of the exception", problem)
        return ProgramRaised(type(error).__qualname__, str(type(error).__module__), _words(error)[:MAX_MESSAGE], (), "")


def _described(error: BaseException, own_folder: str) -> ProgramRaised:
    words = _words(error)
    of_device = is_of_device(error, words)  # its frames may be ours
    drop_own_frames(error, own_folder)
    summary = traceback.TracebackException.from_exception(error, compact=True)
    formatted = "".join(summary.format())
    # a traceback has end lines wherever it has columns
    entries = summary_stack(summary.stack)
    stack = [StackLine(**{name: value for name, value in entry.items() if name != "end_byte"}) for entry in entries]
    stack += [StackLine(*line) for line in lines_of_graph(error.__traceback__)]
    if isinstance(error, SyntaxError) and error.filename:
        stack.append(_syntax_error_entry(error))
    return ProgramRaised(
        type(error).__qualname__,
        str(type(error).__module__),
        words[:MAX_MESSAGE],
        tuple(stack),
        formatted[-MAX_MESSAGE:],
        _missing_requirement(error),
        of_device,
    )


def _words(error: BaseException) -> str:
    """Its message, then its notes, and the messages of the exceptions that a group holds."""
    try:
        lines = [str(error), *(str(note) for note in getattr(error, "__notes__", None) or ())]
        members = getattr(error, "exceptions", None) if type(error).__module__ == "builtins" else None
        lines += [f"  - {type(member).__name__}: {member}" for member in members or ()]
    except Exception:  # a class of the program's; a traceback says the same
        return "<exception str() failed>"
    return "\n".join(lines)


def _missing_requirement(error: BaseException) -> MissingRequirementReport | None:
    try:
        return find_missing_requirement(error)
    except Exception:  # a class of the program's whose words raise
        return None


def _syntax_error_entry(error: SyntaxError) -> StackLine:
    line, column = error.lineno or 1, max(error.offset or 1, 1)
    end_line, end_column = error.end_lineno or line, error.end_offset or 0
    if (end_line, end_column) <= (line, column):
        end_line, end_column = line, column + 1
    text = (error.text or "").strip()
    return StackLine(str(error.filename), line, "<module>", text, column, end_line, end_column)
