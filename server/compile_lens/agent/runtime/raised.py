"""Reports what a program raised: the exception that ended it, or one that a thread or an import raised while the run went on."""

from __future__ import annotations

import atexit
import contextlib
import re
import sys
import threading
import traceback
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

from ..inputs.importing.absent import behind
from ..instrument.stacks import summary_stack
from ..substitutes.cuda.usage import is_of_device
from .degraded import degraded
from .foreign_code import attempted
from .libraries import library_roots
from .missing_requirement import find_missing_requirement
from .protocol import ProgramRaised, RaisedAside, StackLine
from .uncaught import drop_own_frames, show
from .wire import Wire

MAX_MESSAGE = 20_000
MAX_ASIDE = 100
# the file of a graph's code (torch/fx/graph_module.py)
GENERATED = "<eval_with_key>"
RECORDED = re.compile(r'^ *File "(?P<file>.+)", line (?P<line>\d+), in (?P<name>.+)\n *(?P<text>.*)$', re.MULTILINE)

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
    wire.tell(aside(error, own_folder, where, name))


def aside(error: BaseException, own_folder: str, where: str, name: str = "") -> RaisedAside:
    """What is said of an exception that did not end the run (``report_aside``): a copy of the process may send it to who tells it."""
    return RaisedAside(where, _raised(error, own_folder), name)


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
    # an object of the program's that can be called
    return attempted(lambda: str(getattr(function, "__name__", ""))) or ""


def _file_of(function: Any) -> str:
    """The file in which ``function`` is written; '' for what has no code in Python."""

    def file() -> str:
        code = getattr(getattr(function, "__func__", function), "__code__", None)
        return str(getattr(code, "co_filename", ""))

    return attempted(file) or ""


def _raised(error: BaseException, own_folder: str) -> ProgramRaised:
    try:
        return _described(error, own_folder)
    except Exception as problem:  # the program has replaced what is needed for that, or its exception cannot be printed
        degraded("the place of the exception", problem)
        return ProgramRaised(type(error).__qualname__, str(type(error).__module__), _words(error)[:MAX_MESSAGE], (), "")


def _described(error: BaseException, own_folder: str) -> ProgramRaised:
    error = behind(error)
    words = _words(error)
    of_device = is_of_device(error, words)  # its frames may be ours
    drop_own_frames(error, own_folder)
    summary = traceback.TracebackException.from_exception(error, compact=True)
    formatted = "".join(summary.format())
    # a traceback has end lines wherever it has columns
    entries = summary_stack(summary.stack)
    stack = [StackLine(**{name: value for name, value in entry.items() if name != "end_byte"}) for entry in entries]
    stack += _lines_of_graph(error.__traceback__)
    if isinstance(error, SyntaxError) and error.filename:
        stack.append(_syntax_error_entry(error))
    return ProgramRaised(
        type(error).__qualname__,
        str(type(error).__module__),
        words[:MAX_MESSAGE],
        tuple(stack),
        formatted[-MAX_MESSAGE:],
        attempted(lambda: find_missing_requirement(error)),  # the words of a class of the program's may raise
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


def _syntax_error_entry(error: SyntaxError) -> StackLine:
    line, column = error.lineno or 1, max(error.offset or 1, 1)
    end_line, end_column = error.end_lineno or line, error.end_offset or 0
    if (end_line, end_column) <= (line, column):
        end_line, end_column = line, column + 1
    text = (error.text or "").strip()
    return StackLine(str(error.filename), line, "<module>", text, column, end_line, end_column)


def _lines_of_graph(traceback: TracebackType | None) -> list[StackLine]:
    """The user's stack of an operation that failed while a graph of Dynamo's ran, whose traceback ends in code that torch generated.

    Outermost first; empty where none failed.
    """
    found: list[StackLine] = []
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename.startswith(GENERATED):
            found = _recorded_stack(traceback.tb_frame, traceback.tb_lineno)
        traceback = traceback.tb_next
    return found


def _recorded_stack(frame: FrameType, line: int) -> list[StackLine]:
    module = frame.f_locals.get("self")
    # which line of the code is which node: torch 2.11 knows it, 2.8 does not
    numbers: dict[int, Any] = getattr(module, "_lineno_map", None) or {}
    number = numbers.get(line - int(getattr(module, "_prologue_start", 0) or 0))
    nodes = list(module.graph.nodes) if module is not None and number is not None else []
    if not nodes or number is None or number >= len(nodes):
        return []
    text = str(nodes[number].meta.get("stack_trace") or "")
    return [
        StackLine(match["file"], int(match["line"]), match["name"], match["text"].strip())
        for match in RECORDED.finditer(text)
    ]
