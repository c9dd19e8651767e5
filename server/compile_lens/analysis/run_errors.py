"""What ended a program before its end: an exception, the time limit, a signal, ``os._exit``."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from dataclasses import dataclass

from compile_lens.analysis.call_path import call_path
from compile_lens.analysis.finding import Finding, Kind, Place, Severity
from compile_lens.analysis.sources import Sources
from compile_lens.trace.failure_text import message_of
from compile_lens.trace.report import CompileReport, StackFrame
from compile_lens.trace.stack_text import parse_stack

CODE = "run-error"
# "invalid syntax (model.py, line 2)": the place is the finding's own
PLACE_IN_MESSAGE = re.compile(r" \([^()]*, line \d+\)$")


@dataclass(frozen=True, slots=True)
class Raised:
    """An uncaught exception of the program: ``module`` and ``type`` name its class, ``stack`` is the traceback."""

    type: str
    module: str
    message: str
    stack: tuple[StackFrame, ...]
    formatted: str = ""


@dataclass(frozen=True, slots=True)
class Stopped:
    """A program that did not come to its end. ``how`` is ``timeout``, ``signalled``, ``exited`` or ``lost``.

    ``code`` is the signal or the exit code; ``crash_stack`` is what faulthandler wrote, innermost first.
    """

    how: str
    code: int = 0
    seconds: float = 0.0
    crash_stack: str = ""


def find_raised(raised: Raised, report: CompileReport, sources: Sources) -> Iterator[Finding]:
    """The finding for an exception, unless a frame that failed to compile raised it: then that is the finding."""
    if _is_from_compiling(raised, report):
        return
    own = sources.deepest_own(raised.stack)
    if own is not None:
        place = sources.place_of(own)
    elif raised.stack:
        place = sources.place_of(raised.stack[-1])
    else:
        place = Place(sources.main_file, 1, 1, 1, 2)
    yield Finding(
        code=CODE,
        kind=Kind.RUN_ERROR,
        severity=Severity.ERROR,
        message=_raised_message(raised),
        place=place,
        explanation="What comes after this line was not run, so it was not analysed.",
        call_path=call_path(raised.stack, sources),
        detail=raised.formatted,
    )


def _is_from_compiling(raised: Raised, report: CompileReport) -> bool:
    for compilation in report.compilations:
        failure = compilation.failure
        if failure is None:
            continue
        same_type = failure.type.rpartition(".")[2] == raised.type or raised.module.startswith("torch._dynamo.exc")
        head = message_of(failure.message)[:200]
        if same_type and head and head in raised.message:
            return True
    return False


def _raised_message(raised: Raised) -> str:
    first = next((line.strip() for line in raised.message.splitlines() if line.strip()), "")
    if raised.type == "SystemExit":
        return f"The program ended itself here with status {first or '1'}."
    if raised.type == "SyntaxError" or (
        raised.module == "builtins" and raised.type in ("IndentationError", "TabError")
    ):
        return f"The file cannot be run: {raised.type}: {PLACE_IN_MESSAGE.sub('', first)}."
    return f"The program raised {raised.type}{f': {first}' if first else ''}".rstrip(".") + "."


def find_stopped(stopped: Stopped, sources: Sources) -> Iterator[Finding]:
    """The finding for a program that was stopped, at the user's line where it was, if that is known."""
    # faulthandler writes the innermost frame first, and other threads before the one that matters
    stack = tuple(reversed(parse_stack(_main_thread(stopped.crash_stack))))
    own = sources.deepest_own(stack)
    place = sources.place_of(own) if own is not None else Place(sources.main_file, 1, 1, 1, 2)
    message, hints = _stopped_message(stopped, own is not None)
    yield Finding(
        code=CODE,
        kind=Kind.RUN_ERROR,
        severity=Severity.WARNING if stopped.how == "timeout" else Severity.ERROR,
        message=message,
        place=place,
        explanation="What was compiled up to then is shown; what comes after was not analysed.",
        hints=hints,
        call_path=call_path(stack, sources),
        detail=stopped.crash_stack,
    )


def _main_thread(crash_stack: str) -> str:
    _, found, rest = crash_stack.rpartition("(most recent call first):")
    return rest if found else crash_stack


def _stopped_message(stopped: Stopped, is_located: bool) -> tuple[str, tuple[str, ...]]:
    here = "here" if is_located else "somewhere after its start"
    if stopped.how == "timeout":
        return (
            f"The program was still running {here} after {stopped.seconds:g} seconds, and was ended.",
            ("Give it more time (--timeout, or the setting compileLens.run.timeout), or make it do less.",),
        )
    if stopped.how == "signalled":
        return f"The program was killed {here} by {_signal_name(stopped.code)}.", ()
    if stopped.how == "exited":
        return (
            f"The program ended its process with exit code {stopped.code}, without coming to its end (os._exit, or a library).",
            (),
        )
    return "The analysis process disappeared while it ran this file.", ("Run the analysis again.",)


def _signal_name(number: int) -> str:
    names = {
        "SIGSEGV": "a segmentation fault (SIGSEGV)",
        "SIGKILL": "SIGKILL (often: out of memory)",
        "SIGABRT": "an abort (SIGABRT)",
    }
    try:
        name = signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
    return names.get(name, name)
