"""Finds graphs that Inductor compiled again although the same program had run before, and what changed in the cache key."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from compile_lens.analysis.finding import Finding, Kind, Place, Severity
from compile_lens.analysis.functions import function_place
from compile_lens.analysis.performance.compiled_graphs import compiled_graphs
from compile_lens.analysis.run_context import RunContext
from compile_lens.analysis.sources import Sources
from compile_lens.late_pattern import pattern
from compile_lens.trace.cache_key_text import Component, parse_cache_key
from compile_lens.trace.report import Compilation, CompileReport

CODE = "cache-miss"
MISS = "fx_graph_cache_miss"
HIT = "fx_graph_cache_hit"
GRAPH = "gm"
NODE = pattern(r"^\s*(?P<name>\w+) = ")
NUMBER = pattern(r"-?\b\d+(?:\.\d*)?(?:e[+-]?\d+)?\b")
# of torch's text for a tensor: ``shape=torch.Size([3])``, ``stride=(1,)``
FIELD = pattern(
    r"(?<!\w)(?P<name>\w+)=(?P<value>torch\.Size\(\[[^\]]{0,999}\]\)|\([^)]{0,999}\)|[^,()]+(?:\([^)]{0,999}\))?)"
)
LONGEST = 60

Keys = Mapping[str, Mapping[str, Component]]


def cache_keys(report: CompileReport) -> dict[str, dict[str, Component]]:
    """The key of each graph of a run: by compile id, and which graph of it (the backward pass follows the forward)."""
    found = {}
    for name, compile_id, payload in _events(report):
        if key := parse_cache_key(payload):
            found[f"{compile_id} {name}"] = key
    return found


def find_cache_misses(context: RunContext) -> Iterator[Finding]:
    """One finding for each graph that missed the cache, and whose key differs from that of an earlier run of the same program."""
    report, sources, before = context.report, context.sources, context.earlier_cache_keys
    if not before:
        return
    compilations = {compilation.compile_id: compilation for compilation in report.compilations}
    missed = {(a.compile_id, a.payload.text()) for a in report.artifacts if a.name == MISS}
    reported: set[tuple[Place, str]] = set()
    for name, compile_id, payload in _events(report):
        compilation = compilations.get(compile_id)
        earlier = before.get(f"{compile_id} {name}")
        if compilation is None or earlier is None or (compile_id, payload) not in missed:
            continue
        if not sources.is_own(compilation.file):
            continue
        change = _change(parse_cache_key(payload), earlier, compilation, report, sources)
        if change is not None and change not in reported:
            reported.add(change)
            yield _finding(*change, compilation)


def _finding(place: Place, reason: str, compilation: Compilation) -> Finding:
    is_number = reason.startswith("a number")
    return Finding(
        code=CODE,
        kind=Kind.PERFORMANCE,
        severity=Severity.INFORMATION,
        message=f"Cache miss in a repeated run of this program: {reason}.",
        place=place,
        explanation="Everything in the cache key must be the same in each process; otherwise each process compiles again.",
        hints=("Pass it as a tensor, so that it is not part of the graph.",) if is_number else (),
        frames=(compilation.compile_id,),
    )


def _events(report: CompileReport) -> Iterator[tuple[int, str, str]]:
    """(which graph of the compilation, its compile id, what the cache says)."""
    counts: Counter[str] = Counter()
    for artifact in report.artifacts:
        if artifact.name in (MISS, HIT) and artifact.compile_id is not None:
            counts[artifact.compile_id] += 1
            yield counts[artifact.compile_id], artifact.compile_id, artifact.payload.text() or ""


def _change(
    now: Mapping[str, Component],
    before: Mapping[str, Component],
    compilation: Compilation,
    report: CompileReport,
    sources: Sources,
) -> tuple[Place, str] | None:
    """Where the first difference of two keys comes from, and what it is."""
    place = function_place(compilation.file, compilation.line, sources)
    for name, component in now.items():
        other = before.get(name)
        if other is not None and other.hash == component.hash:
            continue
        if name == GRAPH and other is not None:
            return _graph_change(component.text, other.text, compilation, report, sources) or (
                place,
                "the graph changed",
            )
        if other is None:
            return place, f"`{name}` is new"
        return place, _value_change(name, component.text, other.text)
    return None


def _graph_change(
    text: str, other: str, compilation: Compilation, report: CompileReport, sources: Sources
) -> tuple[Place, str] | None:
    """A number in the graph that changed, at the user's line that it comes from."""
    for line, was in zip(text.splitlines(), other.splitlines(), strict=False):
        if line == was:
            continue
        numbers, before = NUMBER.findall(line), NUMBER.findall(was)
        if NUMBER.sub("0", line) != NUMBER.sub("0", was):
            return None
        number, earlier = next((n, b) for n, b in zip(numbers, before, strict=True) if n != b)
        place = function_place(compilation.file, compilation.line, sources)
        named = NODE.match(line)
        for graph in compiled_graphs(report):
            if graph.compilation is compilation and named is not None:
                node = next((node for node in graph.nodes if node.name == named["name"]), None)
                place = (graph.place_of(node, sources) if node is not None else None) or place
        return place, f"a number in the graph changed ({earlier} → {number})"
    return None


def _value_change(name: str, text: str, other: str) -> str:
    fields = {found["name"]: found["value"] for found in FIELD.finditer(text)}
    before = {found["name"]: found["value"] for found in FIELD.finditer(other)}
    changed = [key for key, value in fields.items() if before.get(key) != value]
    if changed and fields.keys() == before.keys():
        key = changed[0]
        return f"`{key}` of `{name}` changed ({_short(before[key])} → {_short(fields[key])})"
    return f"`{name}` changed ({_short(other)} → {_short(text)})"


def _short(text: str) -> str:
    words = " ".join(text.split()) or "empty"
    return words if len(words) <= LONGEST else words[:LONGEST] + "…"
