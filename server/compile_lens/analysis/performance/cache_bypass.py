"""Finds graphs that a cache cannot store: every process compiles them again."""

from __future__ import annotations

from collections.abc import Iterator

from compile_lens.analysis.finding import Finding, Kind, Place, Severity
from compile_lens.analysis.functions import function_place
from compile_lens.analysis.run_context import RunContext
from compile_lens.late_pattern import pattern
from compile_lens.trace.records import read_json
from compile_lens.trace.report import Artifact

CODE = "cache-bypass"
# torch/_inductor/compile_fx.py and torch/_functorch/_aot_autograd/autograd_cache.py (torch 2.11 to 2.13)
CACHES = {"fx_graph_cache_bypass": "Inductor's graph cache", "aotautograd_cache_bypass": "AOTAutograd's cache"}

ADDRESS = pattern(r" at 0x[0-9a-f]+")


def find_cache_bypasses(context: RunContext) -> Iterator[Finding]:
    """One finding per function, cache and reason."""
    report, sources = context.report, context.sources
    compilations = {compilation.compile_id: compilation for compilation in report.compilations}
    groups: dict[tuple[Place, str, str], list[str]] = {}
    for artifact in report.artifacts:
        compilation = compilations.get(artifact.compile_id or "")
        if artifact.name in CACHES and compilation is not None and sources.is_own(compilation.file):
            key = (function_place(compilation.file, compilation.line, sources), artifact.name, _reason(artifact))
            groups.setdefault(key, []).append(compilation.compile_id)
    for (place, cache, reason), frames in groups.items():
        yield Finding(
            code=CODE,
            kind=Kind.PERFORMANCE,
            severity=Severity.INFORMATION,
            message=f"{CACHES[cache]} cannot store this function: {reason}.",
            place=place,
            explanation="Every process that runs it compiles it again.",
            count=len(frames),
            frames=tuple(dict.fromkeys(frames)),
        )


def _reason(artifact: Artifact) -> str:
    record = read_json(artifact.payload.text())
    reason = (
        record.get("cache_bypass_reason") or record.get("cache_bypass_exception_type")
        if isinstance(record, dict)
        else None
    )
    words = ADDRESS.sub("", str(reason or "")).strip().partition("\n")[0].rstrip(". ")
    return words or "torch gives no reason"
