"""Compares the ranks of a job side by side: compilations, graphs, guards, caches, collectives and compile time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeVar

from msgspec.structs import replace

from compile_lens.analysis.finding import Finding, Kind, Place, Severity
from compile_lens.analysis.guard_sources import plain_source
from compile_lens.analysis.rank_details import Collective
from compile_lens.analysis.rank_divergence import Divergence, Rank, find_divergence, hang, names, place_of, waiting
from compile_lens.analysis.ranks import FIRST
from compile_lens.analysis.sources import LIBRARY, Sources
from compile_lens.late_pattern import pattern
from compile_lens.syntax.definitions import definition_at
from compile_lens.trace.report import Compilation, StackFrame

GRAPHS, GUARDS, CACHES, COLLECTIVES, SLOW = "rank-graphs", "rank-guards", "rank-cache", "rank-collectives", "slow-rank"
SAME_SHAPES = (
    "Give each rank inputs of the same shapes and types, and branch on values that are the same on all ranks. If the difference is "
    "intended and the graph calls no collectives, ignore this."
)
SHARE_CACHE = (
    "Let the ranks start from the same cache: `TORCHINDUCTOR_CACHE_DIR` on a file system that all hosts share, or one that is empty on "
    "every host."
)
# of the median, and in seconds: compile times of a healthy job differ by less
SLOWER, LEAST_S = 1.5, 1.0
LONGEST = 80
HEAD = "def forward("
ARGUMENT = pattern(r'(?<!\w)(\w+): "([^"\]]*\]?)')
LOCAL = pattern(r"^L_(\w+?)_$")
CACHE_NAMES = {"fx_graph": "FX graph cache", "aotautograd": "AOTAutograd cache"}
OUTCOMES = {"hit": "hit", "miss": "missed", "bypass": "was bypassed"}
T = TypeVar("T")


def find_rank_findings(ranks: Sequence[Rank], sources: Sources) -> list[tuple[Rank, Finding]]:
    """What differs between ``ranks``, the first difference first; each with the rank that it belongs to."""
    if len(ranks) < 2:
        return []
    structural = find_divergence(ranks, sources)
    shortest = min(len(rank.report.compilations) for rank in ranks)
    # what comes after the first difference is numbered differently on each rank
    common = structural.index if structural is not None else shortest
    found = [
        *([structural] if structural is not None else []),
        *_graphs_and_guards(ranks, common, sources),
        *_caches(ranks, common, sources),
        *_collectives(ranks, sources),
    ]
    # collectives of another order hang, so they are told first where several begin at one compilation
    found.sort(key=lambda one: (one.index, one.finding.code != COLLECTIVES))
    hanging = {one.index for one in found if one.finding.code == COLLECTIVES}
    found = [one for one in found if one.finding.code != GRAPHS or one.index not in hanging]
    if found:
        found[0] = _first(found[0])
    slow = _slow(ranks, sources)
    if slow is not None and any(set(slow.finding.frames) & set(one.finding.frames) for one in found):
        slow = None  # why it compiles longer is told
    return [(one.rank, one.finding) for one in (*found, *([slow] if slow is not None else []))]


def _first(divergence: Divergence) -> Divergence:
    before = divergence.rank.report.compilations[: divergence.index]
    upto = f" Up to [{before[-1].compile_id}], all ranks compiled the same." if before else ""
    finding = divergence.finding
    return replace(
        divergence,
        finding=replace(finding, explanation=f"{FIRST}{upto} {finding.explanation}".strip()),
    )


def _graphs_and_guards(ranks: Sequence[Rank], common: int, sources: Sources) -> Iterator[Divergence]:
    """The first graph that is not the same although its frame is, and the first guards of which only that is true."""
    is_told = False
    for index in range(common):
        graphs = _odd(ranks, partial(_graph, index))
        if graphs is not None:
            yield _graph_divergence(ranks, index, *graphs, sources)
        # ranks with another graph have other guards, too
        alike = ranks if graphs is None else [ranks[at] for at in graphs[1]]
        guards = None if is_told else _odd(alike, partial(_guards, index))
        if guards is not None:
            is_told = True
            yield _guard_divergence(alike, index, *guards, sources)
        if graphs is not None:
            return


def _graph(index: int, rank: Rank) -> tuple[str, ...]:
    return rank.details.graph(rank.report.compilations[index].compile_id)


def _guards(index: int, rank: Rank) -> frozenset[str]:
    return rank.details.guards(rank.report.compilations[index].compile_id)


def _cache_events(index: int, rank: Rank) -> tuple[tuple[str, str], ...]:
    return rank.details.caches(rank.report.compilations[index].compile_id)


def _odd(ranks: Sequence[Rank], value: Callable[[Rank], T]) -> tuple[list[int], list[int], T, T] | None:
    """The ranks that differ from most, the others, and the values of both; None if all are the same. Of two, the later is odd."""
    groups: dict[T, list[int]] = {}
    for at, rank in enumerate(ranks):
        groups.setdefault(value(rank), []).append(at)
    if len(groups) < 2:
        return None
    ordered = sorted(groups.items(), key=lambda group: (len(group[1]), -group[1][0]))
    (own, odd), (usual, _) = ordered[0], ordered[-1]
    return odd, [at for at in range(len(ranks)) if at not in odd], own, usual


def _graph_divergence(
    ranks: Sequence[Rank],
    index: int,
    odd: list[int],
    rest: list[int],
    own: tuple[str, ...],
    usual: tuple[str, ...],
    sources: Sources,
) -> Divergence:
    rank = ranks[odd[0]]
    compilation = rank.report.compilations[index]
    pairs = ((mine, theirs) for mine, theirs in zip(own, usual, strict=False) if mine != theirs)
    mine, theirs = _pieces(*next(pairs, (_beyond(own, usual), _beyond(usual, own))))
    stuck = hang(rank, compilation)
    return _divergence(
        rank,
        index,
        GRAPHS,
        f"Ranks diverge: the graph of `{compilation.function}` on {names(ranks, odd)} differs from that on {names(ranks, rest)}.",
        f"The first line that differs is `{_short(mine)}` on {names(ranks, odd)}, and `{_short(theirs)}` on {names(ranks, rest)}."
        f"{stuck or ' The graph calls no collective, so this alone does not hang.'}",
        SAME_SHAPES,
        Severity.WARNING if stuck else Severity.INFORMATION,
        sources,
    )


def _pieces(mine: str, theirs: str) -> tuple[str, str]:
    """Of two heads of graphs, the first arguments that differ; of two other lines, what they compute."""
    if mine.startswith(HEAD) and theirs.startswith(HEAD):
        ours, others = (ARGUMENT.findall(line) for line in (mine, theirs))
        pairs = ((one, other) for one, other in zip(ours, others, strict=False) if one != other)
        found = next(pairs, None)
        if found is not None:
            return tuple(f"{_argument(name)}: {described}" for name, described in found)  # type: ignore[return-value]
    return mine.partition(";")[0].strip(), theirs.partition(";")[0].strip()


def _argument(name: str) -> str:
    """The user's name of an input of a graph: Dynamo calls `x` ``L_x_``."""
    found = LOCAL.match(name)
    return found[1] if found else name


def _beyond(lines: tuple[str, ...], other: tuple[str, ...]) -> str:
    return lines[len(other)] if len(lines) > len(other) else "nothing"


def _guard_divergence(
    ranks: Sequence[Rank],
    index: int,
    odd: list[int],
    rest: list[int],
    own: frozenset[str],
    usual: frozenset[str],
    sources: Sources,
) -> Divergence:
    rank = ranks[odd[0]]
    compilation = rank.report.compilations[index]
    only, missing = sorted(own - usual), sorted(usual - own)
    sides = [
        f"`{_short(plain_source(some[0]))}` on {names(ranks, who)}"
        for some, who in ((only, odd), (missing, rest))
        if some
    ]
    return _divergence(
        rank,
        index,
        GUARDS,
        f"Ranks diverge: `{compilation.function}` has different guards on {names(ranks, odd)} than on {names(ranks, rest)}.",
        f"The graph is the same, and is guarded by {', and by '.join(sides)}. The next call can recompile on one side alone.",
        SAME_SHAPES,
        Severity.INFORMATION,
        sources,
    )


def _caches(ranks: Sequence[Rank], common: int, sources: Sources) -> Iterator[Divergence]:
    for index in range(common):
        odd = _odd(ranks, partial(_cache_events, index))
        if odd is None:
            continue
        differ, rest, own, usual = odd
        # who compiles is told, whichever side that is
        if any(outcome == "miss" for _, outcome in usual) and not any(outcome == "miss" for _, outcome in own):
            differ, rest, own, usual = rest, differ, usual, own
        rank = ranks[differ[0]]
        compilation = rank.report.compilations[index]
        mine, theirs = next(
            ((one, other) for one, other in zip(own, usual, strict=False) if one != other),
            (_last(own, usual), _last(usual, own)),
        )
        yield _divergence(
            rank,
            index,
            CACHES,
            f"Ranks diverge: `{compilation.function}` {_cache_words(mine)} on {names(ranks, differ)}, and {_cache_words(theirs)} on "
            f"{names(ranks, rest)}.",
            f"{waiting(ranks, differ, compilation)} If that takes longer than the timeout of the process group, the job aborts as if it "
            f"had hung.{hang(rank, compilation)}",
            SHARE_CACHE,
            Severity.WARNING,
            sources,
        )
        return


def _last(events: tuple[tuple[str, str], ...], other: tuple[tuple[str, str], ...]) -> tuple[str, str] | None:
    return events[len(other)] if len(events) > len(other) else None


def _cache_words(event: tuple[str, str] | None) -> str:
    if event is None:
        return "did not use the cache"
    cache, outcome = event
    return (
        f"{OUTCOMES[outcome]} the {CACHE_NAMES[cache]}" if outcome != "bypass" else f"bypassed the {CACHE_NAMES[cache]}"
    )


def _collectives(ranks: Sequence[Rank], sources: Sources) -> Iterator[Divergence]:
    """The first collective that is not the same, over all graphs: each rank would wait in another."""
    orders = [list(rank.details.collectives()) for rank in ranks]
    for number in range(max(map(len, orders))):
        odd = _odd_at(orders, number)
        if odd is None:
            continue
        differ, rest = odd
        # a rank that calls one has a line
        teller = next((at for at in (*differ, *rest) if number < len(orders[at])), differ[0])
        if teller in rest:
            differ, rest = rest, differ
        own = orders[teller][number]
        other = orders[rest[0]][number] if number < len(orders[rest[0]]) else None
        rank = ranks[teller]
        index = next(at for at, c in enumerate(rank.report.compilations) if c.compile_id == own.compile_id)
        theirs = f"calls `{other.name}`" if other is not None else "calls none"
        if len(rest) > 1:
            theirs = theirs.replace("calls", "call", 1)
        verb = "calls" if len(differ) == 1 else "call"
        found = _divergence(
            rank,
            index,
            COLLECTIVES,
            f"Ranks diverge: {names(ranks, differ)} {verb} `{own.name}` as collective {number + 1}, and "
            f"{names(ranks, rest)} {theirs}.",
            "This can hang: a collective ends when all ranks have called it, and these graphs call different ones.",
            "Call the same collectives in the same order on all ranks: branch on values that are the same on all ranks.",
            Severity.ERROR,
            sources,
        )
        yield replace(
            found,
            finding=replace(
                found.finding, place=_line(own, rank.report.compilations[index], sources) or found.finding.place
            ),
        )
        return


def _odd_at(orders: Sequence[Sequence[Collective]], number: int) -> tuple[list[int], list[int]] | None:
    groups: dict[str, list[int]] = {}
    for at, order in enumerate(orders):
        groups.setdefault(order[number].name if number < len(order) else "", []).append(at)
    if len(groups) < 2:
        return None
    ordered = sorted(groups.values(), key=len)
    return ordered[0], [at for at in range(len(orders)) if at not in ordered[0]]


def _line(collective: Collective, compilation: Compilation, sources: Sources) -> Place | None:
    """The user's line that calls it. A graph names the line in torch; then it is the line that calls the function of that name."""
    frame = collective.frame
    if frame is None:
        return None
    if not LIBRARY.search(frame.file):
        return sources.line_in_graph(frame.file, frame.line)
    tree = sources.tree_of(compilation.file)
    definition = definition_at(tree, compilation.line) if tree is not None else None
    if tree is None or definition is None:
        return None
    call = re.compile(rf"\b{re.escape(frame.name)}\(")
    lines = [n for n in range(definition.first_line, definition.last_line + 1) if call.search(tree.line_text(n))]
    return sources.line_of(StackFrame(compilation.file, lines[0], frame.name)) if len(lines) == 1 else None


def _slow(ranks: Sequence[Rank], sources: Sources) -> Divergence | None:
    """The rank that compiles much longer than the median: the others wait for it in each step that compiles."""
    times = [rank.report.seconds for rank in ranks]
    usual, most = sorted(times)[(len(times) - 1) // 2], max(times)
    if most < SLOWER * usual or most - usual < LEAST_S:
        return None
    rank = ranks[times.index(most)]
    other = min(ranks, key=lambda one: abs(one.report.seconds - usual))
    known = {compilation.compile_id: compilation.seconds for compilation in other.report.compilations}
    if not rank.report.compilations:
        return None
    index, worst = max(
        enumerate(rank.report.compilations), key=lambda one: one[1].seconds - known.get(one[1].compile_id, 0.0)
    )
    more = worst.seconds - known.get(worst.compile_id, 0.0)
    return _divergence(
        rank,
        index,
        SLOW,
        f"Compiling takes {most:.1f} s on rank {rank.number}, {most / usual:.1f} times the median ({usual:.1f} s)."
        if usual
        else f"Compiling takes {most:.1f} s on rank {rank.number}, and no time on most ranks.",
        f"{more:.1f} s of the difference are [{worst.compile_id}] `{worst.function}`. The other ranks wait at their next collective.",
        SHARE_CACHE,
        Severity.INFORMATION,
        sources,
    )


def _divergence(
    rank: Rank, index: int, code: str, message: str, explanation: str, hint: str, severity: Severity, sources: Sources
) -> Divergence:
    compilation = rank.report.compilations[index]
    finding = Finding(
        code=code,
        kind=Kind.DIVERGENCE,
        severity=severity,
        message=message,
        place=place_of(compilation, sources),
        explanation=explanation,
        hints=(hint,),
        frames=(compilation.compile_id,),
        weight=compilation.seconds,
    )
    return Divergence(rank, index, finding)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
