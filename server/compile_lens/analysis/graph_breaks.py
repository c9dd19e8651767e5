"""Turns graph breaks into findings: where Dynamo stopped tracing and fell back to Python."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum

from compile_lens.analysis.break_hints import SETTING, corrected, hints_of, instead_of_setting
from compile_lens.analysis.break_titles import own_title
from compile_lens.analysis.call_path import call_path
from compile_lens.analysis.compile_errors import cannot_resume
from compile_lens.analysis.cost import REST, BreakCosts
from compile_lens.analysis.finding import Finding, Kind, Place, Related, Severity
from compile_lens.analysis.functions import function_place
from compile_lens.analysis.run_context import RunContext
from compile_lens.analysis.sources import Sources
from compile_lens.late_pattern import pattern
from compile_lens.syntax.definitions import definition_at
from compile_lens.syntax.origins import origins
from compile_lens.syntax.tree import Range
from compile_lens.trace.report import BreakReason, GraphBreak, StackFrame

NO_CODE = "graph-break"
MAX_LIBRARY_LINES = 12
MAX_ORIGINS = 4
DATA_DEPENDENT = pattern(r"data.dependent", re.IGNORECASE)
# a stack inside torch's explanation: the file's name is enough beside its code
PATH = pattern(r'File "[^"\n]*[/\\]([^"/\\\n]+)"')


class Remedy(str, Enum):
    """Part of the JSON contract. ``SETTING``: an option lets Dynamo trace it. ``FUNDAMENTAL``: the code has to change.
    ``SUPPORTABLE``: Dynamo could support it. ``TORCH_BUG``: it is likely a bug in Dynamo."""

    SETTING = "setting"
    FUNDAMENTAL = "fundamental"
    SUPPORTABLE = "supportable"
    TORCH_BUG = "torch-bug"
    UNKNOWN = ""


SIGNS = (
    ("This graph break is fundamental", Remedy.FUNDAMENTAL),
    ("It may be possible to write Dynamo tracing rules", Remedy.SUPPORTABLE),
    ("This is likely to be a Dynamo bug", Remedy.TORCH_BUG),
)
REMEDY_WORDS = {
    Remedy.SETTING: "a setting lets Dynamo trace it",
    Remedy.FUNDAMENTAL: "no setting avoids it",
}


def find_graph_breaks(context: RunContext) -> Iterator[Finding]:
    """One finding per place and code, with how often it happened and in which frames."""
    report, sources = context.report, context.sources
    groups: dict[tuple[Place, str], list[GraphBreak]] = {}
    for broken in report.breaks:
        place = break_place(broken, sources)
        groups.setdefault((place, broken.reason.code or NO_CODE), []).append(broken)
    # the last break of a frame is the one that it could not resume after
    fatal = {id(c.breaks[-1]) for c in report.compilations if c.breaks and cannot_resume(c)}
    costs = BreakCosts(report)
    for (place, code), breaks in groups.items():
        yield _finding(place, code, breaks, costs, sources, any(id(broken) in fatal for broken in breaks))


def break_place(broken: GraphBreak, sources: Sources) -> Place:
    """The user's deepest own line; the name of a function that broke as a whole; the library's line where none of it is the user's."""
    own = sources.deepest_own(broken.stack)
    whole = _broken_as_a_whole(broken, own, sources)
    if whole is not None:
        return whole
    if own is not None:
        return sources.place_of(own)
    # an entry calls the function: no line of the user's is on the stack
    if sources.is_own(broken.file):
        return function_place(broken.file, broken.line, sources)
    return sources.innermost_place(broken.stack or (StackFrame(broken.file, broken.line, "<unknown>"),))


def _broken_as_a_whole(broken: GraphBreak, own: StackFrame | None, sources: Sources) -> Place | None:
    """The name of the function whose first line the break has, where the stack ends in a call of it: after tracing, in the backend."""
    tree = sources.tree_of(broken.file) if own is not None and sources.is_own(broken.file) else None
    definition = definition_at(tree, broken.line) if tree is not None else None
    if own is None or definition is None or definition.first_line != broken.line:
        return None
    is_inside = own.file == broken.file and definition.first_line <= own.line <= definition.last_line
    return None if is_inside else function_place(broken.file, broken.line, sources)


def _finding(
    place: Place, code: str, breaks: list[GraphBreak], costs: BreakCosts, sources: Sources, fatal: bool
) -> Finding:
    first = breaks[0]
    reason = first.reason
    lost = _lost(breaks, costs, sources)
    remedy = Remedy.UNKNOWN if instead_of_setting(reason, place, sources) else remedy_of(reason)
    cost, weight = costs.of(breaks, place, sources)
    return Finding(
        code=code,
        kind=Kind.GRAPH_BREAK,
        severity=Severity.ERROR if fatal else Severity.WARNING,
        message=_message(first, lost, fatal, remedy, _written(place, sources)),
        place=place,
        explanation=PATH.sub(
            r'File "\1"', "\n\n".join(text for text in (_explanation(reason), reason.consequence) if text)
        ),
        hints=hints_of(reason, place, sources, first.stack),
        count=len(breaks),
        frames=tuple(dict.fromkeys(broken.compile_id for broken in breaks)),
        related=(*_origins(reason, place, sources), *_library_lines(breaks, place, sources)),
        call_path=call_path(first.stack, sources),
        url=reason.url,
        cost=cost,
        weight=weight,
        detail=reason.context,
        remedy=remedy.value,
    )


def _lost(breaks: list[GraphBreak], costs: BreakCosts, sources: Sources) -> str:
    """What falls back to eager: "`helper`", "the rest of `train`", each once; '' if tracing goes on after every one of the breaks."""
    parts = [costs.lost_by(broken) for broken in breaks]
    # a library's own functions mean nothing beside the user's
    named = [part for part, file in parts if part and sources.is_own(file)] or [part for part, _ in parts if part]
    kept = [part for part in dict.fromkeys(named) if part.removeprefix(REST) not in named or not part.startswith(REST)]
    return " and ".join(kept)


def _explanation(reason: BreakReason) -> str:
    """torch's explanation, with torch's title where the message has ours."""
    if own_title(reason) is None or not reason.title:
        return reason.explanation
    return (
        f"{reason.title.rstrip('.:')}: {reason.explanation}" if reason.explanation else f"{reason.title.rstrip('.:')}."
    )


def _written(place: Place, sources: Sources) -> str:
    """The code at ``place``, as far as it is on one line."""
    tree = sources.tree_of(place.file) if sources.is_own(place.file) else None
    return tree.line_text(place.line)[place.column - 1 :] if tree is not None else ""


def _message(broken: GraphBreak, lost: str, fatal: bool, of: Remedy, written: str) -> str:
    title = own_title(broken.reason, written) or broken.reason.title.rstrip(".:") or "torch gives no reason"
    remedy = REMEDY_WORDS.get(of)
    ending = f"; {remedy}" if remedy else ""
    if lost:
        ending += f"; {lost} {'fall' if ' and ' in lost else 'falls'} back to eager"
    if fatal:
        ending = "; torch cannot resume a coroutine or generator, so the call fails"
    return f"Graph break: {title}{ending}."


def _origins(reason: BreakReason, place: Place, sources: Sources) -> Iterator[Related]:
    """Where the tensors come from whose values the line depends on."""
    tree = sources.tree_of(place.file) if DATA_DEPENDENT.search(reason.title) else None
    if tree is None:
        return
    for origin in origins(tree, Range(place.line, place.column, place.end_line, place.end_column))[:MAX_ORIGINS]:
        at = origin.range
        message = f"`{origin.name}` is a parameter." if origin.is_parameter else f"`{origin.name}` is assigned here."
        yield Related(Place(place.file, at.line, at.column, at.end_line, at.end_column), message)


def _library_lines(breaks: list[GraphBreak], place: Place, sources: Sources) -> tuple[Related, ...]:
    """The library lines where the graph broke, each once, in the order of the run."""
    found: dict[tuple[str, int], Related] = {}
    for broken in breaks:
        deepest = broken.stack[-1] if broken.stack else None
        if deepest is None or sources.is_own(deepest.file) or sources.is_runner(deepest.file):
            continue
        library = sources.place_of(deepest)
        if (library.file, library.line) != (place.file, place.line):
            found.setdefault(
                (library.file, library.line), Related(library, f"The graph breaks here, in `{deepest.name}`.")
            )
    return tuple(found.values())[:MAX_LIBRARY_LINES]


def remedy_of(reason: BreakReason) -> Remedy:
    """What the hints of a break say; a setting takes precedence."""
    if any(SETTING.search(corrected(hint)) for hint in reason.hints):
        return Remedy.SETTING
    for sign, remedy in SIGNS:
        if any(hint.lstrip().startswith(sign) for hint in reason.hints):
            return remedy
    return Remedy.UNKNOWN
