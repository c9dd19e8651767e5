"""One view of the ranks of a job: what is the same is said once, with the ranks that it is of."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from compile_lens.analysis.finding import Finding, Kind
from compile_lens.analysis.outcome import Outcome

# how the explanation of the first difference between ranks begins
FIRST = "This is the first difference."


def merge_ranks(outcomes: Sequence[Outcome], name: str) -> Outcome:
    """The outcomes of the ranks of the job ``name`` as one; each has one row in ``ranks``."""
    groups: dict[tuple[object, ...], list[tuple[int, Finding]]] = {}
    for outcome in outcomes:
        (own,) = outcome.ranks
        for finding in outcome.findings:
            key = finding.code, finding.kind, finding.place, finding.message
            groups.setdefault(key, []).append((own.rank, finding))
    first = outcomes[0]
    return replace(
        first,
        file=name,
        findings=tuple(sorted((_merged(members) for members in groups.values()), key=_order)),
        graphs=max(outcome.graphs for outcome in outcomes),
        compile_time_s=max(outcome.compile_time_s for outcome in outcomes),
        duration_s=max(outcome.duration_s for outcome in outcomes),
        regions=tuple(dict.fromkeys(region for outcome in outcomes for region in outcome.regions)),
        functions=tuple(dict.fromkeys(function for outcome in outcomes for function in outcome.functions)),
        notes=tuple(dict.fromkeys(note for outcome in outcomes for note in outcome.notes)),
        ranks=tuple(row for outcome in outcomes for row in outcome.ranks),
    )


def rank_names(ranks: Sequence[int]) -> str:
    """``rank 1``, ``ranks 0 to 3, 7``."""
    runs: list[list[int]] = []
    for rank in sorted(ranks):
        if runs and runs[-1][-1] == rank - 1:
            runs[-1].append(rank)
        else:
            runs.append([rank])
    # two that follow each other are no range
    words = [
        word for run in runs for word in ([f"{run[0]} to {run[-1]}"] if len(run) > 2 else [str(rank) for rank in run])
    ]
    return f"rank{'' if len(ranks) == 1 else 's'} {', '.join(words)}"


def _merged(members: list[tuple[int, Finding]]) -> Finding:
    """One finding of several ranks: as the rank tells it on which it costs most."""
    worst = max((finding for _, finding in members), key=lambda finding: (finding.weight, finding.count))
    return replace(worst, ranks=tuple(rank for rank, _ in members))


def _order(finding: Finding) -> tuple[bool, bool, str, int, int, str]:
    # what differs between the ranks is what a job of many is opened for
    place, is_first = finding.place, finding.explanation.startswith(FIRST)
    return finding.kind is not Kind.DIVERGENCE, not is_first, place.file, place.line, place.column, finding.code
