"""Graph breaks: where Dynamo gave up on tracing on, and ran Python in between."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compile_lens.analysis.break_titles import own_title
from compile_lens.analysis.call_path import call_path
from compile_lens.analysis.compile_errors import cannot_resume
from compile_lens.analysis.cost import break_cost
from compile_lens.analysis.finding import Finding, Kind, Place, Related, Severity
from compile_lens.analysis.remedies import WORDS, remedy_of
from compile_lens.analysis.run_context import RunContext
from compile_lens.analysis.sources import Sources
from compile_lens.syntax.origins import origins
from compile_lens.syntax.tree import Range
from compile_lens.trace.report import BreakReason, CompileReport, GraphBreak, StackFrame

NO_CODE = "graph-break"
MOST_LIBRARY_LINES = 12
MOST_ORIGINS = 4
DATA_DEPENDENT = re.compile(r"data.dependent", re.IGNORECASE)
# a stack inside torch's explanation: the file's name is enough beside its code
PATH = re.compile(r'File "[^"\n]*[/\\]([^"/\\\n]+)"')


def find_graph_breaks(context: RunContext) -> Iterator[Finding]:
    """One finding per place and code, with how often it happened and in which frames."""
    report, sources = context.report, context.sources
    groups: dict[tuple[Place, str], list[GraphBreak]] = {}
    for broken in report.breaks:
        place = break_place(broken, sources)
        groups.setdefault((place, broken.reason.code or NO_CODE), []).append(broken)
    # the last break of a frame is the one that it could not go on after
    fatal = {id(c.breaks[-1]) for c in report.compilations if c.breaks and cannot_resume(c)}
    for (place, code), breaks in groups.items():
        yield _finding(place, code, breaks, report, sources, any(id(broken) in fatal for broken in breaks))


def break_place(broken: GraphBreak, sources: Sources) -> Place:
    """The user's deepest own line; the library's line where no own code is on the stack."""
    own = sources.deepest_own(broken.stack)
    if own is not None:
        return sources.place_of(own)
    return sources.place_of(broken.stack[-1] if broken.stack else StackFrame(broken.file, broken.line, "<unknown>"))


def _finding(
    place: Place, code: str, breaks: list[GraphBreak], report: CompileReport, sources: Sources, fatal: bool
) -> Finding:
    # the message of the first has the values that the others repeat
    first = breaks[0]
    reason = first.reason
    skipped = any(broken.reason.skipped_frame for broken in breaks)
    cost, weight = break_cost(report, breaks, place, sources)
    return Finding(
        code=code,
        kind=Kind.GRAPH_BREAK,
        severity=Severity.ERROR if fatal else Severity.WARNING,
        message=_message(first, skipped, fatal),
        place=place,
        explanation=PATH.sub(r'File "\1"', "\n\n".join(text for text in (_told(reason), reason.consequence) if text)),
        hints=reason.hints,
        count=len(breaks),
        frames=tuple(dict.fromkeys(broken.compile_id for broken in breaks)),
        related=(*_origins(reason, place, sources), *_library_lines(breaks, place, sources)),
        call_path=call_path(first.stack, sources),
        url=reason.url,
        cost=cost,
        weight=weight,
        detail=reason.context,
        remedy=remedy_of(reason).value,
    )


def _told(reason: BreakReason) -> str:
    """torch's explanation; under its own title where ours stands in the place of that."""
    if own_title(reason) is None or not reason.title:
        return reason.explanation
    return (
        f"{reason.title.rstrip('.:')}: {reason.explanation}" if reason.explanation else f"{reason.title.rstrip('.:')}."
    )


def _message(broken: GraphBreak, skipped: bool, fatal: bool) -> str:
    title = own_title(broken.reason) or broken.reason.title.rstrip(".:") or "no reason given"
    remedy = WORDS.get(remedy_of(broken.reason))
    ending = f"; {remedy}" if remedy else ""
    if skipped:
        ending += "; the whole function runs eagerly"
    if fatal:
        ending = "; torch cannot go on after it in a coroutine or generator, and the call fails"
    return f"Graph break: {title}{ending}."


def _origins(reason: BreakReason, place: Place, sources: Sources) -> Iterator[Related]:
    """Where the tensors come from whose values the program asks for."""
    tree = sources.tree_of(place.file) if DATA_DEPENDENT.search(reason.title) else None
    if tree is None:
        return
    for origin in origins(tree, Range(place.line, place.column, place.end_line, place.end_column))[:MOST_ORIGINS]:
        at = origin.range
        said = f"{origin.name} is a parameter." if origin.is_parameter else f"{origin.name} gets its value here."
        yield Related(Place(place.file, at.line, at.column, at.end_line, at.end_column), said)


def _library_lines(breaks: list[GraphBreak], place: Place, sources: Sources) -> tuple[Related, ...]:
    """The lines inside libraries where it broke, each once, in the order of the run."""
    found: dict[tuple[str, int], Related] = {}
    for broken in breaks:
        if not broken.stack or sources.is_own(broken.stack[-1].file):
            continue
        deepest = broken.stack[-1]
        library = sources.place_of(deepest)
        if (library.file, library.line) != (place.file, place.line):
            found.setdefault((library.file, library.line), Related(library, f"It broke here, in {deepest.name}."))
    return tuple(found.values())[:MOST_LIBRARY_LINES]
