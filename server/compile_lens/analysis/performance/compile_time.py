"""Finds functions that take long to compile, in recorded runs alone: an analysis compiles with caches of its own."""

from __future__ import annotations

from collections.abc import Iterator

from compile_lens.analysis.finding import Finding, Kind, Place, Severity
from compile_lens.analysis.functions import function_place
from compile_lens.analysis.run_context import RunContext
from compile_lens.trace.report import Compilation
from compile_lens.wording import counted

CODE = "compile-time"
SLOW_GUARDS = "slow-guards"
# noticeable at the start of a program
LONG_S = 10.0
# of every call, before anything is computed: as much as a few dozen kernel launches
SLOW_US = 500


def find_compile_time(context: RunContext) -> Iterator[Finding]:
    """One finding per function that took ten seconds or more in all, and per function whose guards take half a millisecond a call."""
    if not context.recorded:
        return
    report, sources = context.report, context.sources
    functions: dict[Place, list[Compilation]] = {}
    for compilation in report.compilations:
        if sources.is_own(compilation.file):
            place = function_place(compilation.file, compilation.line, sources)
            functions.setdefault(place, []).append(compilation)
    for place, compilations in functions.items():
        seconds = sum(compilation.costs.frame + compilation.backward.frame for compilation in compilations)
        if seconds >= LONG_S:
            yield _long(place, compilations, seconds)
        slowest = max(compilations, key=lambda compilation: compilation.costs.guard_latency_us or 0)
        if (slowest.costs.guard_latency_us or 0) >= SLOW_US:
            yield _slow(place, slowest)


def _long(place: Place, compilations: list[Compilation], seconds: float) -> Finding:
    name = compilations[0].function
    rows = [row for compilation in compilations if (row := _row(compilation))]
    return Finding(
        code=CODE,
        kind=Kind.PERFORMANCE,
        severity=Severity.INFORMATION,
        message=f"`{name}` took {seconds:.0f} s to compile ({counted(len(compilations), 'compilation')}).",
        place=place,
        explanation="\n".join(["Where the time went:", *rows]),
        hints=(
            "Keep the cache folder (`TORCHINDUCTOR_CACHE_DIR`): a later process then compiles faster.",
            *(("Avoid recompiles first: they cost the most here.",) if len(compilations) > 2 else ()),
        ),
        frames=tuple(compilation.compile_id for compilation in compilations),
        cost=f"{seconds:.0f} s of compile time",
    )


def _row(compilation: Compilation) -> str:
    """One line of the table: the parts, without what is less than a tenth of a second."""
    costs, backward = compilation.costs, compilation.backward
    inner, lowered, generated = costs.backend or 0.0, costs.inductor or 0.0, costs.code_generation or 0.0
    parts = {
        "Dynamo": costs.frame - inner,
        "AOTAutograd": inner - lowered,
        "lowering and fusing": lowered - generated,
        "generating and building code": generated - (costs.triton or 0.0),
        "Triton": costs.triton or 0.0,
        "backward": backward.frame,
    }
    parts_shown = [f"{name} {seconds:.1f} s" for name, seconds in parts.items() if seconds >= 0.1]
    return f"  [{compilation.compile_id}] {', '.join(parts_shown)}" if parts_shown else ""


def _slow(place: Place, compilation: Compilation) -> Finding:
    costs = compilation.costs
    milliseconds = (costs.guard_latency_us or 0) / 1000
    return Finding(
        code=SLOW_GUARDS,
        kind=Kind.PERFORMANCE,
        severity=Severity.INFORMATION,
        message=f"Checking the {costs.guards} guards of `{compilation.function}` takes {milliseconds:.1f} ms on each call.",
        place=place,
        explanation="torch checks the guards before each call, which adds to its run time.",
        hints=(
            "Use fewer objects in it (modules, lists, dictionaries), or drop guards that cannot fail"
            " (`guard_filter_fn` in the options of torch.compile).",
        ),
        frames=(compilation.compile_id,),
    )
