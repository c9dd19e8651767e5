"""Finds caches that are disabled: each process compiles everything again."""

from __future__ import annotations

from collections.abc import Iterator

from compile_lens.analysis.finding import Finding, Kind, Severity
from compile_lens.analysis.functions import function_place
from compile_lens.analysis.run_context import RunContext
from compile_lens.wording import counted

CODE = "cache-off"
# option -> the value that disables a cache, and which (torch 2.6 to 2.13)
SWITCHES = {
    # Inductor's option of the same name leads to this one (torch 2.13)
    "torch.compiler.config.force_disable_caches": (True, "all caches of the compiler"),
    "torch._inductor.config.force_disable_caches": (True, "all of Inductor's caches"),
    "torch._inductor.config.fx_graph_cache": (False, "Inductor's graph cache"),
}


def find_caches_off(context: RunContext) -> Iterator[Finding]:
    """One finding for a run, at the first function of the user's that Inductor compiled without a cache."""
    report, sources = context.report, context.sources
    compiled = {artifact.compile_id for artifact in report.artifacts if artifact.name == "inductor_output_code"}
    if context.without_caches:
        return
    own = [c for c in report.compilations if c.compile_id in compiled and sources.is_own(c.file)]
    if not own:
        return
    for option, (off, cache) in SWITCHES.items():
        values = report.options.of(option)
        if values and values[-1].value is off:
            seconds = sum(compilation.seconds for compilation in own)
            yield Finding(
                code=CODE,
                kind=Kind.PERFORMANCE,
                severity=Severity.INFORMATION,
                message=f"`{option}` disables {cache}: each process compiles everything again.",
                place=function_place(own[0].file, own[0].line, sources),
                explanation=f"{counted(len(own), 'compilation')} took {seconds:.1f} s in this run.",
                frames=tuple(compilation.compile_id for compilation in own),
            )
            return
