"""Frames that did not compile: under ``fullgraph``, in shape propagation, in a backend."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compile_lens.analysis.call_path import call_path
from compile_lens.analysis.finding import Finding, Kind, Place, Severity
from compile_lens.analysis.sources import Sources
from compile_lens.syntax.definitions import definition_at
from compile_lens.trace.break_text import parse_reason
from compile_lens.trace.failure_text import message_of
from compile_lens.trace.report import Compilation, CompileFailure, CompileReport, StackFrame

CODE = "compile-error"
# the repr of an exception with one text argument
QUOTED_ERROR = re.compile(r"^(?P<type>\w+)\((?P<quote>['\"])(?P<message>.*)(?P=quote)\)$", re.DOTALL)


def find_compile_errors(report: CompileReport, sources: Sources) -> Iterator[Finding]:
    """One finding per place and message."""
    groups: dict[tuple[Place, str], list[Compilation]] = {}
    for compilation in report.compilations:
        failure = compilation.failure
        if failure is not None and not _is_told_otherwise(compilation):
            groups.setdefault((failure_place(compilation, sources), _message(failure)), []).append(compilation)
    for (place, message), compilations in groups.items():
        yield _finding(place, message, compilations, sources)


def _is_told_otherwise(compilation: Compilation) -> bool:
    """A break that skips its frame ends in an error that nobody sees, and a limit is a finding of its own."""
    assert compilation.failure is not None
    if compilation.hit_limit is not None:
        return True
    return compilation.failure.type in ("Unsupported", "UserError") and bool(compilation.breaks)


def failure_place(compilation: Compilation, sources: Sources) -> Place:
    """The user's deepest own line in the error's stack; else the function that did not compile; else the call of it."""
    failure = compilation.failure
    assert failure is not None
    own = sources.deepest_own(failure.stack)
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


def _message(failure: CompileFailure) -> str:
    message = message_of(failure.message)
    reason = parse_reason(message)
    title = (reason.title if reason.explanation else message.splitlines()[0] if message else failure.type).rstrip(".:")
    if failure.type in ("Unsupported", "UserError"):
        return f"torch.compile failed: {title}, where a graph break is not allowed (fullgraph=True)."
    if failure.type == "TorchRuntimeError":
        return f"torch.compile failed: {_innermost(reason.explanation) or title}."
    if failure.type == "BackendCompilerFailed" and "\n" in message:
        return f"torch.compile failed: {' '.join(line.strip() for line in message.splitlines()[:2])}"
    return f"torch.compile failed: {title}."


def _innermost(explanation: str) -> str:
    """The error of the operator itself, out of Dynamo's sentence around it (torch/_dynamo/utils.py, ``get_fake_value``)."""
    _, found, error = explanation.partition("got ")
    if not found:
        return ""
    quoted = QUOTED_ERROR.match(error.strip())
    return (f"{quoted['type']}: {quoted['message']}" if quoted else error).strip().rstrip(".")


def _finding(place: Place, message: str, compilations: list[Compilation], sources: Sources) -> Finding:
    first = compilations[0]
    failure = first.failure
    assert failure is not None
    own_message = message_of(failure.message)
    reason = parse_reason(own_message)
    structured = bool(reason.explanation)
    return Finding(
        code=CODE,
        kind=Kind.COMPILE_ERROR,
        severity=Severity.ERROR,
        message=message,
        place=place,
        explanation=reason.explanation if structured else own_message,
        hints=reason.hints if structured else (),
        count=len(compilations),
        frames=tuple(compilation.compile_id for compilation in compilations),
        call_path=call_path(first.call_stack + failure.stack, sources),
        url=reason.url,
        detail=failure.traceback,
    )
