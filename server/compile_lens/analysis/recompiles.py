"""Turns failed guards into recompile findings, and the limit where torch stops recompiling: at the value that the guard names."""

from __future__ import annotations

from collections.abc import Iterator

from compile_lens.analysis.call_path import call_path
from compile_lens.analysis.cost import recompile_cost
from compile_lens.analysis.finding import Finding, Kind, Place, Recompiled, Related, Severity
from compile_lens.analysis.guard_words import change
from compile_lens.analysis.recompile_causes import Cause, Key, causes_of, sizes_of
from compile_lens.analysis.recompile_hints import hints_for
from compile_lens.analysis.recompile_places import cause_place
from compile_lens.analysis.run_context import RunContext
from compile_lens.analysis.sources import Sources
from compile_lens.analysis.wrapped_calls import compiled_names, is_wrapper
from compile_lens.trace.report import Compilation, CompileReport

RECOMPILE = "recompile"
LIMIT = "recompile-limit"
HARD_LIMIT = "FailOnRecompileLimitHit"
SHARED = "Modules and functions of libraries share their compiled versions: torch compiles them through one function of its own."
Causes = list[tuple[Compilation, Cause]]


def find_recompiles(context: RunContext) -> Iterator[Finding]:
    """One finding per cause, with all its recompiles; one per function that reached the limit."""
    report, sources = context.report, context.sources
    groups: dict[tuple[Place, str, Key | None, str], Causes] = {}
    for compilation, cause in causes_of(report):
        place = cause_place(compilation, cause, report, sources)
        code = LIMIT if compilation.hit_limit is not None else RECOMPILE
        groups.setdefault((place, code, cause.fact.key, cause.fact.event), []).append((compilation, cause))
    for (place, code, _, _), causes in groups.items():
        yield _finding(place, code, causes, report, sources)


def _finding(place: Place, code: str, causes: Causes, report: CompileReport, sources: Sources) -> Finding:
    compilations = [compilation for compilation, _ in causes]
    names = compiled_names(compilations, report)
    limited = code == LIMIT
    cost, weight = recompile_cost(compilations, limited, any(map(_is_hard, compilations)))
    return Finding(
        code=code,
        kind=Kind.RECOMPILE_LIMIT if limited else Kind.RECOMPILE,
        severity=_severity(compilations, limited),
        message=_limit_message(names[0], *causes[0]) if limited else _message(names, causes),
        place=place,
        explanation=_explanation(causes, limited, report, sources),
        hints=hints_for(causes, report, sources, limited),
        count=len(compilations),
        frames=tuple(compilation.compile_id for compilation in compilations),
        related=_call_sites(causes, sources),
        call_path=call_path(compilations[0].call_stack, sources),
        cost=cost,
        weight=weight,
        detail="\n".join(
            [
                *(_all_guards(compilation, cause) for compilation, cause in causes),
                *filter(None, (_torchs_error(compilation) for compilation, _ in causes)),
            ]
        ),
        recompiles=tuple(_recompiled(compilation, cause, sources) for compilation, cause in causes),
    )


def _recompiled(compilation: Compilation, cause: Cause, sources: Sources) -> Recompiled:
    own = sources.deepest_own(compilation.call_stack)
    place = sources.place_of(own) if own is not None else None
    return Recompiled(compilation.compile_id, change([cause.fact]), cause.failure.against, cause.failure.guard, place)


def _message(names: list[str], causes: Causes) -> str:
    count = len(causes)
    times = "" if count == 1 else " twice" if count == 2 else f" {count} times"
    listed = " and ".join(
        [", ".join(f"`{name}`" for name in names[:-1]), f"`{names[-1]}`"] if names[1:] else [f"`{names[0]}`"]
    )
    return f"Recompiled {listed}{times}: {change([cause.fact for _, cause in causes])}."


def _severity(compilations: list[Compilation], limited: bool) -> Severity:
    if not limited:
        return Severity.INFORMATION
    return Severity.ERROR if any(_is_hard(compilation) for compilation in compilations) else Severity.WARNING


def _is_hard(compilation: Compilation) -> bool:
    """Whether the limit made the call fail: ``fullgraph=True`` or ``error_on_graph_break(True)`` forbids eager
    (torch/_dynamo/convert_frame.py)."""
    failure = compilation.failure
    return failure is not None and (failure.type == HARD_LIMIT or compilation.fails_call)


def _limit_message(function: str, compilation: Compilation, cause: Cause) -> str:
    what = change([cause.fact])
    if _is_hard(compilation):
        assert compilation.failure is not None
        setting = "fullgraph=True" if compilation.failure.type == HARD_LIMIT else "error_on_graph_break(True)"
        return f"Recompile limit reached: the call of `{function}` fails under `{setting}` ({what})."
    return f"Recompile limit reached: `{function}` falls back to eager when no compiled version fits ({what})."


def _explanation(causes: Causes, limited: bool, report: CompileReport, sources: Sources) -> str:
    """Why torch compiled again, and each recompile: what changed, the call that caused it, and how it differs from the other versions."""
    first = causes[0][0]
    function = compiled_names([first], report)[0]
    if limited:
        head = f"`{function}` has as many compiled versions as torch allows, and none fits:"
    else:
        head = f"No compiled version of `{function}` fits the call, so torch compiled another:"
    rows = [head, *([SHARED] if is_wrapper(first) else [])]
    for compilation, cause in causes:
        own = sources.deepest_own(compilation.call_stack)
        called = f", called at line {own.line}" if own is not None else ""
        rows.append(f"[{compilation.compile_id}] {change([cause.fact])}{called}")
        rows += [f"    also new compared with [{cause.failure.against}]: {change([fact])}" for fact in cause.also]
        rows += [
            f"    compared with [{failure.against}]: {change([fact])}"
            for failure, fact in cause.others
            if fact != cause.fact
        ]
    return "\n".join(rows)


def _torchs_error(compilation: Compilation) -> str:
    """What the call raises, where the limit makes it fail."""
    failure = compilation.failure
    return f"{failure.type}: {failure.message}" if failure is not None and _is_hard(compilation) else ""


def _all_guards(compilation: Compilation, cause: Cause) -> str:
    """Each failed guard in torch's words, the one that the finding is about first (``fixes.evidence`` reads them)."""
    failures = (cause.failure, *(failure for failure, _ in cause.others))
    rows = [f"[{compilation.compile_id}] against {failure.against}: {failure.guard}" for failure in failures]
    if cause.fact.what == "size" and (sizes := sizes_of(compilation, cause.fact.name)):
        rows.append(f"[{compilation.compile_id}] made for {cause.fact.name} of size [{', '.join(sizes)}]")
    return "\n".join(rows)


def _call_sites(causes: Causes, sources: Sources) -> tuple[Related, ...]:
    """The user's calls that led to the recompiles, each line once, with what was new there."""
    found: dict[tuple[str, int], Related] = {}
    for compilation, cause in causes:
        own = sources.deepest_own(compilation.call_stack)
        if own is not None:
            after = f" with {cause.fact.after}" if cause.fact.after else ""
            message = f"Called here{after} (recompile {compilation.compile_id})."
            found.setdefault((own.file, own.line), Related(sources.place_of(own), message))
    return tuple(found.values())
