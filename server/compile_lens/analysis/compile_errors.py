"""Turns compile failures into findings: of Dynamo's frames, and of calls such as ``torch.export.export`` that have none."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from compile_lens.analysis.break_hints import corrected
from compile_lens.analysis.call_path import call_path
from compile_lens.analysis.error_stages import EXPORT_CALL, FULLGRAPH, Triage, triage
from compile_lens.analysis.error_words import MAKE_ROOM, NO_SPACE, sentence, suggestions
from compile_lens.analysis.finding import Finding, Kind, Place, Severity
from compile_lens.analysis.run_context import RunContext
from compile_lens.analysis.sources import Sources
from compile_lens.syntax.definitions import definition_at
from compile_lens.trace.break_text import parse_reason
from compile_lens.trace.failure_text import is_same, own_words_of, parse_operator_stack, parse_user_stack
from compile_lens.trace.report import Compilation, CompileReport, FailedCall, StackFrame

# torch/_dynamo/resume_execution.py (torch 2.13): the break before it is what the user can act on
NO_RESUME = "Cannot generate resume function"
MAX_WORDS = 1200


class CompileError(Struct, frozen=True):
    """One error, from any source. ``call`` is '' for ``torch.compile``; ``stack`` leads to the finding's place.

    ``is_fullgraph``: the call of ``torch.compile`` forbids graph breaks, so that nothing else does.
    """

    type: str
    message: str
    traceback: str
    stack: tuple[StackFrame, ...]
    call: str = ""
    is_fullgraph: bool = True

    @property
    def triage(self) -> Triage:
        """Its row in the triage table."""
        return triage(self.type, self.message, self.traceback, self.call, self.is_fullgraph)


def find_compile_errors(context: RunContext) -> Iterator[Finding]:
    """One finding per place and message."""
    report, sources = context.report, context.sources
    groups: dict[tuple[Place, str], list[Compilation]] = {}
    for compilation in report.compilations:
        if is_reported_here(compilation) and not _is_of_a_call(compilation, report):
            error = _error_of(compilation, report)
            message = sentence(error.type, error.message, error.triage)
            groups.setdefault((failure_place(compilation, sources), message), []).append(compilation)
    for (place, _), compilations in groups.items():
        frames = tuple(compilation.compile_id for compilation in compilations)
        yield error_finding(_error_of(compilations[0], report), place, sources, frames)
    # one that is raised through several of them belongs to the innermost, which comes first
    failed: dict[str, FailedCall] = {}
    for call in report.failed_calls:
        failed.setdefault(call.message, call)
    for call in failed.values():
        stack = parse_user_stack(call.message) or parse_operator_stack(call.message)
        stack = call.stack + stack if sources.deepest_own(stack) is not None else call.stack
        own = sources.deepest_own(stack)
        if own is not None:
            fullgraph = is_fullgraph(report, call.region)
            error = CompileError(call.type, call.message, call.traceback, stack, call.call, fullgraph)
            yield error_finding(error, sources.place_of(own), sources)


def is_reported_here(compilation: Compilation) -> bool:
    """Whether the failure of ``compilation`` is a finding of its own.

    A break that skips its frame ends in an error that Dynamo handles, one in a coroutine in an error that adds nothing; a limit has a
    finding.
    """
    failure = compilation.failure
    if failure is None or compilation.hit_limit is not None:
        return False
    if not compilation.breaks:
        return True
    if cannot_resume(compilation):
        return False
    return compilation.fails_call or failure.type not in ("Unsupported", "UserError")


def cannot_resume(compilation: Compilation) -> bool:
    """Whether a break made the call fail: torch cannot resume a coroutine or a generator."""
    return compilation.failure is not None and NO_RESUME in compilation.failure.message


def _is_of_a_call(compilation: Compilation, report: CompileReport) -> bool:
    """A strict export traces a frame (named up to torch 2.8); the failure of the call says more."""
    assert compilation.failure is not None
    callers = [(frame.file, frame.line) for frame in compilation.call_stack]
    return any(
        is_same(compilation.failure.message, call.message)
        and (
            not compilation.name or [(frame.file, frame.line) for frame in call.stack[: len(callers)]] == callers != []
        )
        for call in report.failed_calls
    )


def is_fullgraph(report: CompileReport, region: int | None = None) -> bool:
    """Whether ``torch.compile`` was called with ``fullgraph=True``: for ``region``, else for any; True where a trace does not say."""
    known = [call.fullgraph for call in report.regions if region is None or call.region == region]
    return not known or any(fullgraph is not False for fullgraph in known)


def _error_of(compilation: Compilation, report: CompileReport) -> CompileError:
    failure = compilation.failure
    assert failure is not None
    stack = failure.stack or parse_operator_stack(failure.message)
    # without a frame it was an export, of which a trace from elsewhere has no more than this
    call = "" if compilation.name else EXPORT_CALL
    fullgraph = is_fullgraph(report, compilation.region)
    return CompileError(
        failure.type, failure.message, failure.traceback, compilation.call_stack + stack, call, fullgraph
    )


def failure_place(compilation: Compilation, sources: Sources) -> Place:
    """The user's deepest own line in the error's stack, else that of the operator in its text; else the function that did not
    compile; else the call of it."""
    failure = compilation.failure
    assert failure is not None
    for stack in (failure.stack, parse_operator_stack(failure.message)):
        own = sources.deepest_own(stack)
        if own is not None:
            return sources.place_of(own)
    if failure.file and failure.line and sources.is_own(failure.file):
        return sources.place_of(StackFrame(failure.file, failure.line, compilation.function))
    if not sources.is_own(compilation.file):
        caller = sources.deepest_own(compilation.call_stack)
        if caller is not None:
            return sources.place_of(caller)
    tree = sources.tree_of(compilation.file)
    definition = definition_at(tree, compilation.line) if tree else None
    if definition is None:
        return sources.place_of(StackFrame(compilation.file, compilation.line, compilation.function))
    name = definition.name_place
    return Place(compilation.file, name.line, name.column, name.end_line, name.end_column)


def _head(words: str) -> str:
    """As much as fits a hover; the rest (a compiler's output, a graph) is in the details."""
    return words if len(words) <= MAX_WORDS else f"{words[:MAX_WORDS].rstrip()}\n…"


def error_finding(error: CompileError, place: Place, sources: Sources, frames: tuple[str, ...] = ()) -> Finding:
    """The finding for one error at ``place``. ``frames`` are the compile ids that it happened in, if it has any."""
    found = error.triage
    words = own_words_of(error.message)
    reason = parse_reason(words)
    structured = bool(reason.explanation)
    torchs = tuple(map(corrected, reason.hints)) if structured else ()
    # a break's own hints come first, as they know what broke
    specific = suggestions(error.message) + (torchs if found.code == FULLGRAPH.code else ())
    return Finding(
        code=found.code,
        kind=Kind.COMPILE_ERROR,
        severity=Severity.ERROR,
        message=sentence(error.type, error.message, found, error.call),
        place=place,
        explanation=f"Stage: {found.stage}.\n\n{reason.explanation if structured else _head(words)}",
        hints=(MAKE_ROOM,) if NO_SPACE.search(words) else tuple(dict.fromkeys(specific + found.hints + torchs)),
        count=max(len(frames), 1),
        frames=frames,
        call_path=call_path(error.stack, sources),
        url=reason.url,
        detail=error.traceback,
        stage=found.stage,
    )
