"""Turns failed guards into recompile findings, and the limit where torch stops recompiling: at the value that the guard names."""

from __future__ import annotations

from collections.abc import Iterator

from compile_lens.analysis.call_path import call_path
from compile_lens.analysis.cost import recompile_cost
from compile_lens.analysis.finding import Finding, Kind, Place, Related, Severity
from compile_lens.analysis.guards import GuardFact, read_guard
from compile_lens.analysis.run_context import RunContext
from compile_lens.analysis.sources import Sources
from compile_lens.syntax.definitions import definition_at, parameter_range
from compile_lens.syntax.ranges import find_expression
from compile_lens.syntax.tree import Range
from compile_lens.trace.report import Compilation, GuardFailure, StackFrame
from compile_lens.wording import counted

RECOMPILE = "recompile"
LIMIT = "recompile-limit"
HARD_LIMIT = "FailOnRecompileLimitHit"
UNKNOWN = GuardFailure("", "")
MAX_CAUSES = 3


def find_recompiles(context: RunContext) -> Iterator[Finding]:
    """One finding per cause and kind, with all its recompiles."""
    report, sources = context.report, context.sources
    groups: dict[tuple[Place, str], list[Compilation]] = {}
    for compilation in report.compilations:
        if compilation.recompile is not None:
            code = LIMIT if compilation.hit_limit is not None else RECOMPILE
            groups.setdefault((cause_place(compilation, sources), code), []).append(compilation)
    for (place, code), compilations in groups.items():
        yield _finding(place, code, compilations, sources)


def cause_place(compilation: Compilation, sources: Sources) -> Place:
    """The parameter, attribute or expression that the guard names; else the function; in library code, the user's call."""
    if not sources.is_own(compilation.file):
        own = sources.deepest_own(compilation.call_stack)
        if own is not None:
            return sources.place_of(own)
    failure = primary(compilation)
    tree = sources.tree_of(compilation.file)
    if tree is None:
        return Place(compilation.file, compilation.line, 1, compilation.line, 2)
    definition = definition_at(tree, compilation.line)
    fact = read_guard(failure)
    found: Range | None = None
    if fact.name and definition is not None:
        found = _named_in(compilation, failure, fact, sources, definition.first_line, definition.last_line)
    if found is None and compilation.resume_of is not None:
        # a value kept across a break has no name: the line of the break stands for it
        return sources.place_of(StackFrame(compilation.file, compilation.line, compilation.function))
    if found is None and definition is not None:
        found = definition.name_place
    if found is None:
        return sources.place_of(StackFrame(compilation.file, compilation.line, compilation.function))
    return Place(compilation.file, found.line, found.column, found.end_line, found.end_column)


def _named_in(
    compilation: Compilation, failure: GuardFailure, fact: GuardFact, sources: Sources, first: int, last: int
) -> Range | None:
    tree = sources.tree_of(compilation.file)
    assert tree is not None
    if fact.root == fact.name or fact.name.startswith(f"{fact.root}["):
        parameter = parameter_range(tree, first, fact.root)
        if parameter is not None:
            return parameter
    for expression in fact.expressions:
        if failure.line is not None and first <= failure.line <= last:
            used = find_expression(tree, expression, failure.line, failure.line)
            if used is not None:
                return used
        used = find_expression(tree, expression, first, last)
        if used is not None:
            return used
    return None


def primary(compilation: Compilation) -> GuardFailure:
    """The guard of the newest version: what changed since the last compilation."""
    recompile = compilation.recompile
    return recompile.failures[0] if recompile and recompile.failures else UNKNOWN


def _finding(place: Place, code: str, compilations: list[Compilation], sources: Sources) -> Finding:
    facts = [read_guard(primary(compilation)) for compilation in compilations]
    function = compilations[0].function
    limited = code == LIMIT
    cost, weight = recompile_cost(compilations, limited, any(map(_is_hard, compilations)))
    return Finding(
        code=code,
        kind=Kind.RECOMPILE_LIMIT if limited else Kind.RECOMPILE,
        severity=_severity(compilations, limited),
        message=_limit_message(function, compilations[0]) if limited else _message(function, facts, len(compilations)),
        place=place,
        explanation=_explanation(compilations, limited, sources),
        hints=_hints(facts, compilations, limited),
        count=len(compilations),
        frames=tuple(compilation.compile_id for compilation in compilations),
        related=_call_sites(compilations, sources),
        call_path=call_path(compilations[0].call_stack, sources),
        cost=cost,
        weight=weight,
        detail="\n".join([*map(_all_guards, compilations), *filter(None, map(_torchs_error, compilations))]),
    )


def _message(function: str, facts: list[GuardFact], count: int) -> str:
    times = "" if count == 1 else " twice" if count == 2 else f" {count} times"
    causes = list(dict.fromkeys(_cause(fact) for fact in facts))
    shown = "; then ".join(change([fact for fact in facts if _cause(fact) == cause]) for cause in causes[:MAX_CAUSES])
    more = len(causes) - MAX_CAUSES
    others = f"; and {counted(more, 'more cause')}" if more > 0 else ""
    return f"Recompiled `{function}`{times}: {shown}{others}."


def _cause(fact: GuardFact) -> tuple[str, int | None, str]:
    return fact.what, fact.dimension, fact.event


def change(facts: list[GuardFact]) -> str:
    """One cause, with the values that it went through: ``size 1 of `tokens` changed (16 → 24 → 40)``."""
    fact = facts[0]
    # what Dynamo keeps on its own stack across a graph break
    name = "a value kept across the graph break" if fact.name.startswith("___stack") else f"`{fact.name}`"
    if fact.event:
        return f"{name} {fact.event}" if fact.name else fact.event
    if not fact.name:
        return f"{fact.what} changed"
    if fact.what == "value":
        return f"{name} changed{_values(facts)}"
    if fact.dimension is not None:
        return f"{fact.what} {fact.dimension} of {name} changed{_values(facts)}"
    what = "`requires_grad`" if fact.what == "requires_grad" else fact.what
    return f"{what} of {name} changed{_values(facts)}"


def _values(facts: list[GuardFact]) -> str:
    if all(fact.after for fact in facts):
        steps = [facts[0].before, *(fact.after for fact in facts)]
        shown = steps if len(steps) <= 6 else [*steps[:4], "…", steps[-1]]
        return f" ({' → '.join(shown)})"
    known = list(dict.fromkeys(fact.before for fact in facts if fact.before))
    if not known:
        return ""
    shown = known if len(known) <= 4 else [*known[:4], "…"]
    return f" (was {', then '.join(shown)})"


def _severity(compilations: list[Compilation], limited: bool) -> Severity:
    if not limited:
        return Severity.INFORMATION
    return Severity.ERROR if any(_is_hard(compilation) for compilation in compilations) else Severity.WARNING


def _is_hard(compilation: Compilation) -> bool:
    """Whether the limit made the call fail: ``fullgraph=True`` or ``error_on_graph_break(True)`` forbids eager
    (torch/_dynamo/convert_frame.py)."""
    failure = compilation.failure
    return failure is not None and (failure.type == HARD_LIMIT or compilation.fails_call)


def _limit_message(function: str, compilation: Compilation) -> str:
    what = change([read_guard(primary(compilation))])
    if _is_hard(compilation):
        assert compilation.failure is not None
        setting = "fullgraph=True" if compilation.failure.type == HARD_LIMIT else "error_on_graph_break(True)"
        return f"Recompile limit reached: the call of `{function}` fails under `{setting}` ({what})."
    return f"Recompile limit reached: `{function}` falls back to eager when no compiled version fits ({what})."


def _explanation(compilations: list[Compilation], limited: bool, sources: Sources) -> str:
    """Why torch compiled again, and each recompile: what changed, and the call that caused it."""
    first = compilations[0]
    if limited:
        head = f"`{first.function}` has as many compiled versions as torch allows, and none fits:"
    else:
        head = f"No compiled version of `{first.function}` fits the call, so torch compiled another:"
    rows = []
    for compilation in compilations:
        own = sources.deepest_own(compilation.call_stack)
        called = f", called at line {own.line}" if own is not None else ""
        rows.append(f"[{compilation.compile_id}] {change([read_guard(primary(compilation))])}{called}")
    return "\n".join([head, *rows])


def _torchs_error(compilation: Compilation) -> str:
    """What the call raises, where the limit makes it fail."""
    failure = compilation.failure
    return f"{failure.type}: {failure.message}" if failure is not None and _is_hard(compilation) else ""


def _all_guards(compilation: Compilation) -> str:
    failures = compilation.recompile.failures if compilation.recompile else ()
    return "\n".join(f"[{compilation.compile_id}] against {failure.against}: {failure.guard}" for failure in failures)


def _hints(facts: list[GuardFact], compilations: list[Compilation], limited: bool) -> tuple[str, ...]:
    # torch's hint "type int" repeats the guard
    hints = [hint for c in compilations if not (hint := primary(c).hint).startswith("type ")]
    hints += [hint_for(fact) for fact in facts]
    if limited:
        hints.append(
            "If you need this many versions, raise `torch._dynamo.config.recompile_limit` (`cache_size_limit` before torch 2.7)."
            " Each version costs a compilation."
        )
    return tuple(dict.fromkeys(hint for hint in hints if hint))


def hint_for(fact: GuardFact) -> str:
    """What usually helps where ``fact`` changes; '' if nothing does in general."""
    plain = fact.name.isidentifier() and not fact.name.startswith("___")
    if fact.what in ("size", "stride") and fact.dimension is not None:
        how = f"torch._dynamo.mark_dynamic({fact.name}, {fact.dimension})" if plain else "torch._dynamo.mark_dynamic"
        return (
            f"Mark dimension {fact.dimension} dynamic before the first call: `{how}`. Or compile with `dynamic=True`."
        )
    name = f"`{fact.name}`" if plain else "the number"
    if fact.what == "value" and fact.before.lstrip("-").replace(".", "", 1).isdigit():
        return f"Pass {name} as a tensor if it changes from call to call: Dynamo specializes on Python numbers."
    if fact.what == "requires_grad":
        return f"Use the same `requires_grad` for `{fact.name}` in every call: each setting is compiled separately."
    return ""


def _call_sites(compilations: list[Compilation], sources: Sources) -> tuple[Related, ...]:
    """The user's calls that led to the recompiles, each line once, with what was new there."""
    found: dict[tuple[str, int], Related] = {}
    for compilation in compilations:
        own = sources.deepest_own(compilation.call_stack)
        if own is not None:
            fact = read_guard(primary(compilation))
            after = f" with {fact.after}" if fact.after else ""
            message = f"Called here{after} (recompile {compilation.compile_id})."
            found.setdefault((own.file, own.line), Related(sources.place_of(own), message))
    return tuple(found.values())
