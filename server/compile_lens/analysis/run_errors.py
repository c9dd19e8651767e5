"""Finds what ended a program early: an exception, the time limit, a signal, ``os._exit``."""

from __future__ import annotations

import itertools
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from compile_lens.analysis.call_path import call_path
from compile_lens.analysis.compile_errors import (
    MAX_WORDS,
    CompileError,
    error_finding,
    is_fullgraph,
)
from compile_lens.analysis.compiled_code_errors import misuse_of
from compile_lens.analysis.device_errors import CRASH, CRASH_HINTS, CRASHES, DEVICE, device_error
from compile_lens.analysis.error_words import first_words
from compile_lens.analysis.finding import (
    ENDED_AS_SCRIPT,
    ENDED_HERE,
    LACKING,
    MENDED,
    MOVED,
    SKIPPED,
    Finding,
    Kind,
    Place,
    Related,
    Severity,
)
from compile_lens.analysis.how_to_start import hints_for
from compile_lens.analysis.missing_requirements import MISSING_ARGUMENTS, MISSING_DATA, missing_finding
from compile_lens.analysis.outcome import Outcome
from compile_lens.analysis.refused_calls import is_refusal
from compile_lens.analysis.removed_names import removed_name_hints
from compile_lens.analysis.run_context import Raised, RaisedBeside, RunContext, Stopped
from compile_lens.analysis.sources import Sources
from compile_lens.late_pattern import pattern
from compile_lens.trace.failure_text import head_of, is_same, own_words_of, parse_operator_stack, parse_user_stack
from compile_lens.trace.report import CompileFailure, CompileReport, StackFrame
from compile_lens.trace.stack_text import parse_stack

CODE = "run-error"
# old packages need it for versions (LooseVersion) and flags (strtobool)
DISTUTILS = "distutils"
DISTUTILS_HINT = "Install `setuptools`, which has a copy of it."
_NO_DISTUTILS = pattern(rf"No module named '{DISTUTILS}\b")
BUDGET = "budget"
# how the message of a program begins that a limit of ours has ended
STOPPED = "Stopped"
UNRUNNABLE = "The file cannot be run"
RESOURCES = {
    "memory": "memory",
    "cpu": "processor time",
    "processes": "processes",
    "disk": "disk space",
    "output": "output",
}
# no limits of the run: memory ran low for all programs, or the kernel would have ended others first then
MACHINE, ORDER = "machine", "order"
# only the compiler raises classes of these modules: a backward pass compiles, too, and has no frame in Dynamo
COMPILER = (
    "torch._dynamo.exc",
    "torch._inductor.exc",
    "torch.fx.experimental.symbolic_shapes",
    "triton.compiler.errors",
)
# "invalid syntax (model.py, line 2)": the place is the finding's own
# what compiled code calls: wrappers of torch, and what torch generates
RUNS_COMPILED = pattern(
    r"[/\\\\]torch[/\\\\](?:_dynamo|_functorch|_inductor|fx)[/\\\\]|^<eval_with_key>|[/\\\\]c[a-z2-7]{51}\.py$"
)
PLACE_IN_MESSAGE = pattern(r" \([^()]*, line \d+\)$")


def find_raised(context: RunContext, found: Sequence[Finding]) -> Iterator[Finding]:
    """A finding for each exception that the user would have seen and that no error among ``found`` tells.

    This is what makes sure that none is swallowed: it runs after all other finders, and asks for the words of the exception itself.
    """
    raised, told = context.raised, [finding for finding in found if finding.severity is Severity.ERROR]
    if raised is not None and not is_refusal(raised, context) and not _is_told(raised, told, context.report):
        yield _finding(raised, context)
    for beside in context.raised_aside:
        if not is_refusal(beside.raised, context) and not _is_told(beside.raised, told, context.report):
            yield _beside(beside, context)


def _finding(raised: Raised, context: RunContext) -> Finding:
    sources = context.sources
    if raised.missing is not None:
        place = _place(raised.stack, sources)
        path = call_path(raised.stack, sources)
        texts, command = _own_texts(raised.stack, sources), _command(sources)
        missing = missing_finding(raised.missing, place, raised.message, context.without_network, texts, command)
        return replace(missing, call_path=path, detail=raised.formatted)
    inner = parse_user_stack(raised.message) or parse_operator_stack(raised.message)
    if raised.module in COMPILER:
        stack = raised.stack + inner if sources.deepest_own(inner) is not None else raised.stack
        fullgraph = is_fullgraph(context.report)
        error = CompileError(raised.type, raised.message, raised.formatted, stack, is_fullgraph=fullgraph)
        return error_finding(error, _place(stack, sources), sources)
    code, message, hints = _described(raised)
    line = own.text if (own := sources.deepest_own(raised.stack)) is not None else ""
    hints = hints or (
        *hints_for(raised.type, raised.message, line, _command(sources)),
        *removed_name_hints(raised.message, line),
    )
    stack = tuple(frame for frame, inner in itertools.pairwise(raised.stack) if not _is_compiled(frame, inner))
    stack += raised.stack[-1:]
    return Finding(
        code=code,
        kind=Kind.RUN_ERROR,
        severity=Severity.ERROR,
        message=message,
        place=_place(stack, sources),
        explanation=_explanation(raised),
        hints=hints,
        call_path=call_path(stack, sources),
        detail=raised.formatted,
    )


def _command(sources: Sources) -> str:
    return f"compile-lens check {Path(sources.main_file).name}"


def _own_texts(stack: tuple[StackFrame, ...], sources: Sources) -> list[str]:
    """The sources of the program's own files in ``stack``: one of them declares its arguments."""
    files = dict.fromkeys([sources.main_file, *(frame.file for frame in stack if sources.is_own(frame.file))])
    return [tree.text for file in files if (tree := sources.tree_of(file)) is not None]


def _beside(beside: RaisedBeside, context: RunContext) -> Finding:
    """The finding for an exception after which the run went on."""
    finding = _finding(beside.raised, context)
    if finding.kind is not Kind.RUN_ERROR:
        return finding
    if beside.where == "thread":
        message = finding.message.replace("The program", f"The thread `{beside.owner}`", 1)
        ending = "The thread ended here; the program continued."
    elif beside.where == "atexit":
        message = finding.message.replace(
            "The program", f"The exit function `{beside.owner}`" if beside.owner else "An exit function", 1
        )
        ending = "Python shows this exception and calls the remaining exit functions. The exit code stays the same."
    else:
        message = f"At import: {finding.message}" if beside.where == "import" else finding.message
        ending = {"mended": MENDED, "moved": MOVED, "lacking": LACKING}.get(beside.where, SKIPPED)
    explanation = finding.explanation.replace(ENDED_HERE, ending, 1)
    # a thread that a library started (`QueueFeederThread`) ran no line of the program
    is_of_library = beside.where == "thread" and context.sources.deepest_own(beside.raised.stack) is None
    severity = Severity.INFORMATION if is_of_library else severity_beside(finding)
    return replace(finding, severity=severity, message=message, explanation=explanation)


def as_script(finding: Finding) -> Finding:
    """What ended the file as a script, told beside what another entry found."""
    if finding.message.startswith(UNRUNNABLE):
        return finding
    return replace(
        finding,
        severity=severity_beside(finding),
        message=f"As a script: {finding.message}",
        explanation=finding.explanation.replace(ENDED_HERE, ENDED_AS_SCRIPT, 1),
    )


def severity_beside(finding: Finding) -> Severity:
    """How much it matters what ended the file in one way, where another way of running it was found: what is only missing on this
    machine, or only for this way, is no error."""
    only_missing = finding.severity is not Severity.ERROR or finding.code in (MISSING_ARGUMENTS, MISSING_DATA)
    return Severity.INFORMATION if only_missing else Severity.ERROR


def _explanation(raised: Raised) -> str:
    """What ended here and, where the message has several lines, all of them."""
    words = own_words_of(raised.message)
    if len(words.splitlines()) < 2 or raised.type == "SyntaxError":
        return ENDED_HERE
    return f"{ENDED_HERE}\n\n{words if len(words) <= MAX_WORDS else words[:MAX_WORDS].rstrip() + chr(10) + '…'}"


def _is_compiled(frame: StackFrame, inner: StackFrame) -> bool:
    """Whether ``frame`` ran as compiled code, which calls torch from the first line of its function: its call says more, or its graph."""
    is_definition = frame.text.lstrip().startswith(("@", f"def {frame.name}(", f"async def {frame.name}("))
    return is_definition and RUNS_COMPILED.search(inner.file) is not None


def _described(raised: Raised) -> tuple[str, str, tuple[str, ...]]:
    """The code, the sentence and the hints."""
    if (from_device := device_error(raised.message)) is not None:
        return DEVICE, f"Device error, caused here or earlier: {from_device[0]}.", from_device[1]
    if (misuse := misuse_of(raised.message)) is not None:
        return misuse.code, misuse.message, misuse.hints
    if raised.type == "ModuleNotFoundError" and _NO_DISTUTILS.match(raised.message):
        return CODE, f"Python has no `{DISTUTILS}` since 3.12.", (DISTUTILS_HINT,)
    return CODE, _raised_message(raised), ()


def _place(stack: tuple[StackFrame, ...], sources: Sources) -> Place:
    own = sources.deepest_own(stack)
    if own is not None:
        return sources.place_of(own)
    return sources.innermost_place(stack)


def _is_told(raised: Raised, errors: Sequence[Finding], report: CompileReport) -> bool:
    """Whether one of the error findings is of this exception: it has its words, or is of the frame or call that failed with it."""
    words = head_of(raised.message)
    frames = {c.compile_id for c in report.compilations if c.failure is not None and _is_of(raised, c.failure)}
    calls = {call.traceback for call in report.failed_calls if is_same(call.message, raised.message)}
    return any(
        frames & set(finding.frames) or finding.detail in calls or (words and _has_words(finding, words))
        for finding in errors
        if finding.kind is not Kind.RUN_ERROR
    )


def _has_words(finding: Finding, words: str) -> bool:
    return any(is_same(words, text) for text in (finding.detail, finding.explanation, finding.message))


def _is_of(raised: Raised, failure: CompileFailure) -> bool:
    same_type = failure.type.rpartition(".")[2] == raised.type or raised.module.startswith("torch._dynamo.exc")
    if not raised.message.strip() and not failure.message.strip():
        return same_type
    return same_type and is_same(failure.message, raised.message)


def _raised_message(raised: Raised) -> str:
    first = first_words(raised.message)
    if raised.type == "SystemExit":
        is_number = first.lstrip("-").isdecimal()
        return f"The program exits here with status {first if is_number else f'1: {first}'.rstrip(': .')}."
    if raised.type == "SyntaxError" or (
        raised.module == "builtins" and raised.type in ("IndentationError", "TabError")
    ):
        return f"{UNRUNNABLE}: {raised.type}: {PLACE_IN_MESSAGE.sub('', first)}."
    return f"The program raised `{raised.type}`{f': {first}' if first else ''}".rstrip(".:") + "."


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
            f"{STOPPED}{here} after {stopped.seconds:g} s (`run.timeout`).",
            (
                "Raise the limit with `--timeout` or the setting `compileLens.run.timeout`, or make the program do less.",
            ),
        )
    if stopped.how == "budget" and stopped.reason == MACHINE:
        return (
            f"{STOPPED}: the memory of this machine ran low, and the program had taken more of it than can be counted.",
            (
                "Have the program take less (memory of the kernel counts, too), close other programs, or run the file without the sandbox: "
                "`compile-lens check --no-sandbox`.",
            ),
        )
    if stopped.how == "budget" and stopped.reason == ORDER:
        return (
            f"{STOPPED}: the program kept lowering its `oom_score_adj`, so that the kernel ends others first when memory runs out.",
            ("Leave out these writes, or run the file without the sandbox: `compile-lens check --no-sandbox`.",),
        )
    if stopped.how == "budget":
        return (
            f"{STOPPED}: the program exceeded its limit on {RESOURCES.get(stopped.reason, 'resources')}.",
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


def at_own_lines(outcome: Outcome) -> Iterator[Finding]:
    """For each error that ended the run in another file, the same error where the analyzed file called or imported it.

    Someone who looks at the analyzed file would see nothing otherwise: that other file need not be open.
    """
    for finding in outcome.findings:
        if finding.kind is not Kind.RUN_ERROR or finding.severity is not Severity.ERROR:
            continue
        if finding.place.file == outcome.file:
            continue
        sites = [site for site in finding.call_path if site.place.file == outcome.file]
        if sites:
            where = f"{Path(finding.place.file).name}:{finding.place.line}"
            yield replace(
                finding,
                message=f"{finding.message.rstrip('.')} (at {where}).",
                place=sites[-1].place,
                related=(Related(finding.place, "The error was raised here"), *finding.related),
            )
