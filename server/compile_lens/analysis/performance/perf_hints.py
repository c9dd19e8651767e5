"""Shows torch's own performance hints (its log ``perf_hints``), at the line that they are about."""

from __future__ import annotations

from collections.abc import Iterator

from compile_lens.analysis.finding import Finding, Kind, Place, Severity
from compile_lens.analysis.functions import function_place
from compile_lens.analysis.run_context import RunContext
from compile_lens.trace.report import LogLine

CODE = "perf-hint"
# what has a finding of its own (fallbacks.py), or no remedy
IGNORED = ("Using FallbackKernel", "possibly bad tiling", "Skip comprehensive padding")


def find_perf_hints(context: RunContext) -> Iterator[Finding]:
    """One finding per place and text."""
    report, sources = context.report, context.sources
    compilations = {compilation.compile_id: compilation for compilation in report.compilations}
    groups: dict[tuple[Place, str], list[LogLine]] = {}
    for line in report.log_lines:
        text = " ".join(line.text.split())
        if line.log != "perf_hints" or text.startswith(IGNORED):
            continue
        own = sources.deepest_own(line.origin)
        compilation = compilations.get(line.compile_id or "")
        if own is not None:
            place = sources.place_of(own)
        elif compilation is not None and sources.is_own(compilation.file):
            place = function_place(compilation.file, compilation.line, sources)
        else:
            continue
        groups.setdefault((place, text), []).append(line)
    for (place, text), lines in groups.items():
        yield Finding(
            code=CODE,
            kind=Kind.PERFORMANCE,
            severity=Severity.HINT,
            message=f"Performance hint from torch: {text.rstrip('.')}.",
            place=place,
            count=len(lines),
            frames=tuple(dict.fromkeys(line.compile_id for line in lines if line.compile_id)),
        )
