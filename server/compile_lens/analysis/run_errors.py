"""Finds what ended a program early: an exception, the time limit, a signal, ``os._exit``."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from dataclasses import replace

from compile_lens.analysis.call_path import call_path
from compile_lens.analysis.compile_errors import CompileError, error_finding, is_same
from compile_lens.analysis.compiled_code_errors import misuse_of
from compile_lens.analysis.device_errors import CRASH, CRASH_HINTS, CRASHES, DEVICE, device_error
from compile_lens.analysis.finding import ENDED_HERE, Finding, Kind, Place, Severity
from compile_lens.analysis.missing_requirements import missing_finding
from compile_lens.analysis.refused_calls import is_refusal
from compile_lens.analysis.run_context import Raised, RunContext, Stopped
from compile_lens.analysis.sources import Sources
from compile_lens.trace.failure_text import parse_operator_stack, parse_user_stack
from compile_lens.trace.report import CompileReport, StackFrame
from compile_lens.trace.stack_text import parse_stack

CODE = "run-error"
BUDGET = "budget"
RESOURCES = {
    "memory": "memory",
    "cpu": "processor time",
    "processes": "processes",
    "disk": "disk space",
    "output": "output",
}
# only the compiler raises classes of these modules: a backward pass compiles, too, and has no frame in Dynamo
COMPILER = (
    "torch._dynamo.exc",
    "torch._inductor.exc",
    "torch.fx.experimental.symbolic_shapes",
    "triton.compiler.errors",
)
# "invalid syntax (model.py, line 2)": the place is the finding's own
PLACE_IN_MESSAGE = re.compile(r" \([^()]*, line \d+\)$")


def find_raised(context: RunContext) -> Iterator[Finding]:
    """The finding for an exception, unless it has one already: a frame that failed to compile, or a call that the sandbox blocked."""
    raised, sources = context.raised, context.sources
    if raised is None or is_refusal(context) or _is_from_compiling(raised, context.report):
        return
    if raised.missing is not None:
        place = _place(raised.stack, sources)
        path = call_path(raised.stack, sources)
        yield replace(missing_finding(raised.missing, place, raised.message), call_path=path, detail=raised.formatted)
        return
    inner = parse_user_stack(raised.message) or parse_operator_stack(raised.message)
    if raised.module in COMPILER:
        stack = raised.stack + inner if sources.deepest_own(inner) is not None else raised.stack
        error = CompileError(raised.type, raised.message, raised.formatted, stack)
        yield error_finding(error, _place(stack, sources), sources)
        return
    code, message, hints = _described(raised)
    # generated code is in the traceback as the first line of the compiled function: its call says more
    stack = raised.stack if code == CODE else tuple(frame for frame in raised.stack if not _is_a_definition(frame))
    yield Finding(
        code=code,
        kind=Kind.RUN_ERROR,
        severity=Severity.ERROR,
        message=message,
        place=_place(stack, sources),
        explanation=ENDED_HERE,
        hints=hints,
        call_path=call_path(raised.stack, sources),
        detail=raised.formatted,
    )


def _is_a_definition(frame: StackFrame) -> bool:
    return frame.text.lstrip().startswith(("@", f"def {frame.name}(", f"async def {frame.name}("))


def _described(raised: Raised) -> tuple[str, str, tuple[str, ...]]:
    """The code, the sentence and the hints."""
    if (from_device := device_error(raised.message)) is not None:
        return DEVICE, f"Device error, caused here or earlier: {from_device[0]}.", from_device[1]
    if (misuse := misuse_of(raised.message)) is not None:
        return misuse.code, misuse.message, misuse.hints
    return CODE, _raised_message(raised), ()


def _place(stack: tuple[StackFrame, ...], sources: Sources) -> Place:
    own = sources.deepest_own(stack)
    if own is not None:
        return sources.place_of(own)
    return sources.place_of(stack[-1]) if stack else sources.beginning


def _is_from_compiling(raised: Raised, report: CompileReport) -> bool:
    if any(is_same(call.message, raised.message) for call in report.failed_calls):
        return True
    for compilation in report.compilations:
        failure = compilation.failure
        if failure is None:
            continue
        same_type = failure.type.rpartition(".")[2] == raised.type or raised.module.startswith("torch._dynamo.exc")
        if same_type and is_same(failure.message, raised.message):
            return True
    return False


def _raised_message(raised: Raised) -> str:
    first = next((line.strip() for line in raised.message.splitlines() if line.strip()), "")
    if raised.type == "SystemExit":
        return f"The program exits here with status {first or '1'}."
    if raised.type == "SyntaxError" or (
        raised.module == "builtins" and raised.type in ("IndentationError", "TabError")
    ):
        return f"The file cannot be run: {raised.type}: {PLACE_IN_MESSAGE.sub('', first)}."
    return f"The program raised `{raised.type}`{f': {first}' if first else ''}".rstrip(".") + "."


def find_stopped(context: RunContext) -> Iterator[Finding]:
    """The finding for a program that was stopped, at the user's line where it was, if that is known."""
    stopped, sources = context.stopped, context.sources
    if stopped is None:
        return
    # faulthandler writes the innermost frame first, and the current thread last
    stack = tuple(reversed(parse_stack(_main_thread(stopped.crash_stack))))
    own = sources.deepest_own(stack)
    place = sources.own_place(stack)
    message, hints = _stopped_message(stopped, own is not None)
    yield Finding(
        code=_stopped_code(stopped),
        kind=Kind.RUN_ERROR,
        severity=Severity.WARNING if stopped.how in ("timeout", "budget") else Severity.ERROR,
        message=message,
        place=place,
        explanation="Findings so far are shown. What comes after was not analyzed.",
        hints=hints,
        call_path=call_path(stack, sources),
        detail=stopped.crash_stack,
    )


def _stopped_code(stopped: Stopped) -> str:
    if stopped.how == "budget":
        return BUDGET
    return CRASH if stopped.how == "signalled" and stopped.code in CRASHES else CODE


def _main_thread(crash_stack: str) -> str:
    _, found, rest = crash_stack.rpartition("(most recent call first):")
    return rest if found else crash_stack


def _stopped_message(stopped: Stopped, is_located: bool) -> tuple[str, tuple[str, ...]]:
    here = " here" if is_located else ""
    if stopped.how == "timeout":
        return (
            f"Stopped{here} after {stopped.seconds:g} s (`run.timeout`).",
            (
                "Raise the limit with `--timeout` or the setting `compileLens.run.timeout`, or make the program do less.",
            ),
        )
    if stopped.how == "budget":
        return (
            f"Stopped: the program exceeded its limit on {RESOURCES.get(stopped.reason, 'resources')}.",
            (
                "Raise the limit (the settings `compileLens.budget`), or run the file without the sandbox: "
                "`compile-lens check --no-sandbox`.",
            ),
        )
    if stopped.how == "signalled":
        name = _signal_name(stopped.code)
        return f"The program was killed{here} by {name}.", CRASH_HINTS if stopped.code in CRASHES else ()
    if stopped.how == "exited":
        return (
            f"The process exited early with exit code {stopped.code} (`os._exit`, or a library).",
            (),
        )
    return "The analysis process ended unexpectedly while it ran this file.", ("Run the analysis again.",)


def _signal_name(number: int) -> str:
    try:
        known = signal.Signals(number)
    except ValueError:
        return f"signal {number}"
    if known.name == "SIGKILL":
        return "SIGKILL (often out of memory)"
    return CRASHES.get(known, known.name)
