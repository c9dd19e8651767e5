"""Where the ranks of one job part ways: the first compilation that is not the same on all of them.

Ranks run one program. Once one of them compiles what the others do not, the others wait for it at the next collective; if the graphs have
collectives of their own, ranks with different graphs can wait for each other forever.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from compile_lens.analysis.finding import Finding, Kind, Place
from compile_lens.analysis.sources import LIBRARY
from compile_lens.trace.report import Compilation, CompileReport
from compile_lens.wording import counted

CODE = "rank-divergence"
# in the text of a graph (torch/distributed/_functional_collectives.py, torch/csrc/distributed/c10d/Functional.cpp)
COLLECTIVE = re.compile(
    r"_c10d_functional\.(\w+)|\b(all_reduce|all_gather\w*|reduce_scatter\w*|all_to_all\w*|broadcast)\b"
)
GRAPH = "dynamo_output_graph"
CAUSE = re.compile(r"^(?:Recompiled `[^`]*`[^:]*|`[^`]*` reached[^:]*): (?P<cause>.*?)\.?$")


@dataclass(frozen=True, slots=True)
class Rank:
    """One rank of a job: its report, and the findings made of it."""

    number: int
    report: CompileReport
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class CompileStep:
    """What two ranks must have in common at one point of their compilations. ``breaks`` are the lines, in order."""

    compile_id: str
    function: str
    file: str
    line: int
    graphs: int
    breaks: tuple[tuple[str, int], ...]
    error: str


def find_divergence(ranks: Sequence[Rank]) -> tuple[Rank, Finding] | None:
    """The first divergence, and the rank that it belongs to; None if all ranks compiled the same, or there is one rank."""
    steps = [[_step(compilation) for compilation in rank.report.compilations] for rank in ranks]
    for index in range(max(map(len, steps), default=0)):
        groups: dict[CompileStep | None, list[int]] = {}
        for at, own in enumerate(steps):
            groups.setdefault(own[index] if index < len(own) else None, []).append(at)
        if len(groups) > 1:
            return _divergence(ranks, index, groups)
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


def _divergence(ranks: Sequence[Rank], index: int, groups: dict[CompileStep | None, list[int]]) -> tuple[Rank, Finding]:
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
    before = f"All ranks compiled the same up to [{rank.report.compilations[index - 1].compile_id}]. " if index else ""
    return rank, Finding(
        code=CODE,
        kind=Kind.DIVERGENCE,
        severity=Kind.DIVERGENCE.row.severity,
        message=message,
        place=finding.place if finding is not None else _place(compilation),
        explanation=f"{before}While {_names(ranks, teller)} compiles{_seconds(compilation)}, the others wait at the next collective."
        f"{_hang(rank.report, compilation)}",
        hints=(
            "Give each rank inputs of the same shapes and types, for example by padding or dropping the last batch, and branch on "
            "values that are the same on all ranks.",
        ),
        frames=(compilation.compile_id,),
        call_path=finding.call_path if finding is not None else (),
        weight=compilation.seconds,
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
    who, others = _names(ranks, teller), _names(ranks, rest)
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


def _names(ranks: Sequence[Rank], members: list[int]) -> str:
    numbers = sorted(ranks[at].number for at in members)
    return f"rank{'' if len(numbers) == 1 else 's'} {', '.join(map(str, numbers))}"


def _seconds(compilation: Compilation) -> str:
    return f" ({compilation.seconds:.2f} s)" if compilation.seconds else ""


def _hang(report: CompileReport, compilation: Compilation) -> str:
    """A sentence about the collectives of the graph, '' if it has none."""
    for artifact in report.artifacts:
        if artifact.name == GRAPH and artifact.compile_id == compilation.compile_id:
            found = COLLECTIVE.search(artifact.payload.text() or "")
            if found:
                name = found[1] or found[2]
                return f" Its graph calls `{name}`: ranks that run another graph can wait for each other forever."
    return ""


def _finding_of(rank: Rank, compilation: Compilation) -> Finding | None:
    """The finding that tells of the compilation; a recompile says why it happened."""
    told = [finding for finding in rank.findings if compilation.compile_id in finding.frames]
    causes = [finding for finding in told if finding.kind in (Kind.RECOMPILE, Kind.RECOMPILE_LIMIT)]
    return next(iter(causes or told), None)


def _place(compilation: Compilation) -> Place:
    """The user's line that called what was compiled; the function itself if all of it is the user's."""
    own = [frame for frame in compilation.call_stack if not LIBRARY.search(frame.file)]
    if LIBRARY.search(compilation.file) and own:
        frame = own[-1]
        return Place(frame.file, frame.line, 1, frame.line, max(len(frame.text), 1) + 1)
    return Place(compilation.file, compilation.line, 1, compilation.line, 2)
