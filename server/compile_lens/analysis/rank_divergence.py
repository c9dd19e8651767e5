"""Where the ranks of one job part ways: the first compilation that is not the same on all of them.

Ranks run one program. Once one of them compiles what the others do not, the others wait for it at the next collective; if the graphs have
collectives of their own, ranks with different graphs can wait for each other forever.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from msgspec import Struct

from compile_lens.analysis.finding import Finding, Kind, Place
from compile_lens.analysis.functions import function_place
from compile_lens.analysis.rank_details import RankDetails
from compile_lens.analysis.ranks import rank_names
from compile_lens.analysis.sources import LIBRARY, Sources
from compile_lens.late_pattern import pattern
from compile_lens.trace.report import Compilation, CompileReport
from compile_lens.wording import counted

CODE = "rank-divergence"
HINT = (
    "Give each rank inputs of the same shapes and types, for example by padding or dropping the last batch, and branch on values that "
    "are the same on all ranks."
)
CAUSE = pattern(r"^(?:Recompiled `[^`]*`[^:]*|`[^`]*` reached[^:]*): (?P<cause>.*?)\.?$")


@dataclass(frozen=True, slots=True)
class Rank:
    """One rank of a job: its report, and the findings made of it."""

    number: int
    report: CompileReport
    findings: tuple[Finding, ...]
    details: RankDetails = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "details", RankDetails(self.report))


class CompileStep(Struct, frozen=True):
    """What two ranks must have in common at one point of their compilations. ``breaks`` are the lines, in order."""

    compile_id: str
    function: str
    file: str
    line: int
    graphs: int
    breaks: tuple[tuple[str, int], ...]
    error: str


class Divergence(Struct, frozen=True):
    """A finding about ranks that differ: the rank that it belongs to, and which of its compilations differs, counted from 0."""

    rank: Rank
    index: int
    finding: Finding


def find_divergence(ranks: Sequence[Rank], sources: Sources | None = None) -> Divergence | None:
    """The first compilation that is not the same; None if all ranks compiled the same, or there is one rank."""
    steps = [[_step(compilation) for compilation in rank.report.compilations] for rank in ranks]
    for index in range(max(map(len, steps), default=0)):
        groups: dict[CompileStep | None, list[int]] = {}
        for at, own in enumerate(steps):
            groups.setdefault(own[index] if index < len(own) else None, []).append(at)
        if len(groups) > 1:
            return _divergence(ranks, index, groups, sources)
    return None


def _step(compilation: Compilation) -> CompileStep:
    return CompileStep(
        compilation.compile_id,
        compilation.function,
        # the same code may be installed elsewhere on another host
        PurePath(compilation.file).name,
        compilation.line,
        compilation.graphs,
        tuple((PurePath(broken.file).name, broken.line) for broken in compilation.breaks),
        compilation.failure.type if compilation.failure is not None else "",
    )


def _divergence(
    ranks: Sequence[Rank], index: int, groups: dict[CompileStep | None, list[int]], sources: Sources | None
) -> Divergence:
    """The finding at the rank that does what most do not, or, of two, at the one that compiled at all."""
    ordered = sorted(groups.items(), key=lambda group: (len(group[1]), group[0] is None))
    (step, odd), (others_step, others) = ordered[0], ordered[-1]
    if step is None and others_step is not None:
        told, teller = others_step, others
    else:
        assert step is not None  # of two groups, one compiled
        told, teller = step, odd
    rank = ranks[teller[0]]
    compilation = rank.report.compilations[index]
    finding = _finding_of(rank, compilation)
    rest = [at for at in range(len(ranks)) if at not in teller]
    other = _step_of(groups, rest[0])
    message = _message(rank, ranks, told, teller, other, rest, finding)
    return Divergence(
        rank,
        index,
        Finding(
            code=CODE,
            kind=Kind.DIVERGENCE,
            severity=Kind.DIVERGENCE.row.severity,
            message=message,
            place=finding.place if finding is not None else place_of(compilation, sources),
            explanation=_both_sides(ranks, teller, rest, told, other)
            + waiting(ranks, teller, compilation)
            + hang(rank, compilation),
            hints=(HINT,),
            frames=(compilation.compile_id,),
            call_path=finding.call_path if finding is not None else (),
            weight=compilation.seconds,
        ),
    )


def _step_of(groups: dict[CompileStep | None, list[int]], at: int) -> CompileStep | None:
    """What the rank at ``at`` did."""
    return next(step for step, members in groups.items() if at in members)


def _message(
    rank: Rank,
    ranks: Sequence[Rank],
    told: CompileStep,
    teller: list[int],
    other: CompileStep | None,
    rest: list[int],
    finding: Finding | None,
) -> str:
    who, others = names(ranks, teller), names(ranks, rest)
    if other is not None and (other.compile_id, other.function) == (told.compile_id, told.function):
        own, theirs = _results(told, other)
        return f"Ranks diverge: `{told.function}` has {own} on {who}, and {theirs} on {others}."
    cause = CAUSE.match(finding.message) if finding is not None else None
    verb = "recompiled" if not told.compile_id.endswith("/0") else "compiled"
    why = f": {cause['cause']}" if cause else ""
    instead = "did not" if other is None else f"compiled `{other.function}` instead"
    return f"Ranks diverge: {who} {verb} `{told.function}`, and {others} {instead}{why}."


def _results(told: CompileStep, other: CompileStep) -> tuple[str, str]:
    """What differs between two compilations of one function, in a phrase for each."""
    if told.error != other.error:
        return told.error or "no error", other.error or "no error"
    if len(told.breaks) != len(other.breaks):
        return counted(len(told.breaks), "graph break"), counted(len(other.breaks), "graph break")
    if told.breaks != other.breaks:
        own, theirs = next(pair for pair in zip(told.breaks, other.breaks, strict=True) if pair[0] != pair[1])
        return f"a graph break at {own[0]}:{own[1]}", f"one at {theirs[0]}:{theirs[1]}"
    return counted(told.graphs, "graph"), counted(other.graphs, "graph")


def _both_sides(
    ranks: Sequence[Rank], teller: list[int], rest: list[int], told: CompileStep, other: CompileStep | None
) -> str:
    """What each side compiled at this point, where one compiled nothing more or something else."""
    if other is None:
        last = {ranks[at].report.compilations[-1].compile_id for at in rest if ranks[at].report.compilations}
        ended = f" ended with [{last.pop()}]" if len(last) == 1 else " compiled nothing more"
        return f"{_capital(names(ranks, teller))} continued with [{told.compile_id}]; {names(ranks, rest)}{ended}. "
    if (other.compile_id, other.function) != (told.compile_id, told.function):
        return (
            f"[{told.compile_id}] `{told.function}` on {names(ranks, teller)}, [{other.compile_id}] `{other.function}` on "
            f"{names(ranks, rest)}. "
        )
    return ""


def names(ranks: Sequence[Rank], members: Sequence[int]) -> str:
    """``rank 1``, for the members of ``ranks`` at these positions."""
    return rank_names([ranks[at].number for at in members])


def waiting(ranks: Sequence[Rank], compiling: list[int], compilation: Compilation) -> str:
    """Who waits for whom."""
    verb = "compiles" if len(compiling) == 1 else "compile"
    return f"While {names(ranks, compiling)} {verb}{_seconds(compilation)}, the others wait at the next collective."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _seconds(compilation: Compilation) -> str:
    return f" ({compilation.seconds:.2f} s)" if compilation.seconds else ""


def hang(rank: Rank, compilation: Compilation) -> str:
    """A sentence about the collectives of the graph, '' if it has none."""
    found = rank.details.collectives_of(compilation.compile_id)
    if not found:
        return ""
    return f" This can hang: its graph calls `{found[0].name}`, and ranks that run another graph do not."


def _finding_of(rank: Rank, compilation: Compilation) -> Finding | None:
    """The finding that tells of the compilation; a recompile says why it happened."""
    told = [finding for finding in rank.findings if compilation.compile_id in finding.frames]
    causes = [finding for finding in told if finding.kind in (Kind.RECOMPILE, Kind.RECOMPILE_LIMIT)]
    return next(iter(causes or told), None)


def place_of(compilation: Compilation, sources: Sources | None = None) -> Place:
    """The user's line that called what was compiled; the name of the function itself if all of it is the user's."""
    own = [frame for frame in compilation.call_stack if not LIBRARY.search(frame.file)]
    if LIBRARY.search(compilation.file) and own:
        frame = own[-1]
        return Place(frame.file, frame.line, 1, frame.line, max(len(frame.text), 1) + 1)
    if sources is not None:
        return function_place(compilation.file, compilation.line, sources)
    return Place(compilation.file, compilation.line, 1, compilation.line, 2)
