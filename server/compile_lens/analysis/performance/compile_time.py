"""Functions that take long to compile, and where the time goes. Told of recorded runs: an analysis compiles with caches of its own."""

from __future__ import annotations

from collections.abc import Iterator

from compile_lens.analysis.finding import Finding, Kind, Place, Severity
from compile_lens.analysis.functions import function_place
from compile_lens.analysis.run_context import RunContext
from compile_lens.trace.report import Compilation

CODE = "compile-time"
SLOW_GUARDS = "slow-guards"
# what a user notices at the start of a program
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
        message=f"`{name}` took {seconds:.0f} s to compile, in {len(compilations)} compilation{'' if len(compilations) == 1 else 's'}.",
        place=place,
        explanation="\n".join(["Where the time went:", *rows]),
        hints=(
            "A later process compiles faster if its cache folder (TORCHINDUCTOR_CACHE_DIR) is kept.",
            *(("Fewer recompiles would save the most.",) if len(compilations) > 2 else ()),
        ),
        frames=tuple(compilation.compile_id for compilation in compilations),
        cost=f"{seconds:.0f} s of compiling",
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
    told = [f"{name} {seconds:.1f} s" for name, seconds in parts.items() if seconds >= 0.1]
    return f"  [{compilation.compile_id}] {', '.join(told)}" if told else ""


def _slow(place: Place, compilation: Compilation) -> Finding:
    costs = compilation.costs
    milliseconds = (costs.guard_latency_us or 0) / 1000
    return Finding(
        code=SLOW_GUARDS,
        kind=Kind.PERFORMANCE,
        severity=Severity.INFORMATION,
        message=f"Checking the {costs.guards} guards of `{compilation.function}` takes {milliseconds:.1f} ms at every call.",
        place=place,
        explanation="Before each call torch checks that what was compiled still fits: time that is added to whatever it computes.",
        hints=(
            "Let it capture fewer objects (modules, lists, dictionaries), or leave out guards that cannot fail"
            " (`guard_filter_fn` of torch.compile's options).",
        ),
        frames=(compilation.compile_id,),
    )
