"""Prints what happened on each rank of a job, one row a rank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from compile_lens.analysis.outcome import RankSummary
from compile_lens.analysis.ranks import rank_names
from compile_lens.cli.screen import Screen
from compile_lens.cli.styled import Styled

COLUMNS = ("rank", "graphs", "graph breaks", "recompiles", "cache hits", "cache misses", "compiling")
# of a job of hundreds, what is the same is one row
MOST_ROWS = 16
UNUSUAL = "bold yellow"


def print_ranks(ranks: Sequence[RankSummary], screen: Screen) -> None:
    """Print the rows of ``ranks``; of a job of many, those that are the same but for the time as one."""
    rows = []
    known = [row.compile_time_s for row in ranks]
    slowest, fastest = max(known), min(known)
    usual = Counter(_counts(row) for row in ranks).most_common(1)[0][0]
    for members in _groups(ranks):
        counts = _counts(members[0])
        times = sorted(row.compile_time_s for row in members)
        seconds = f"{times[0]:.2f} s" if times[0] == times[-1] else f"{times[0]:.2f} to {times[-1]:.2f} s"
        cells = [Styled(rank_names([row.rank for row in members]).partition(" ")[2])]
        cells += [
            Styled(str(count), "" if count == most else UNUSUAL) for count, most in zip(counts, usual, strict=True)
        ]
        is_slowest = times[-1] == slowest and len(ranks) > 1 and slowest > 1.5 * fastest
        rows.append([*cells, Styled(seconds, UNUSUAL if is_slowest else "")])
    screen.print_table(COLUMNS, rows)


def _groups(ranks: Sequence[RankSummary]) -> list[list[RankSummary]]:
    if len(ranks) <= MOST_ROWS:
        return [[row] for row in ranks]
    groups: dict[tuple[int, ...], list[RankSummary]] = {}
    for row in ranks:
        groups.setdefault(_counts(row), []).append(row)
    return list(groups.values())


def _counts(row: RankSummary) -> tuple[int, ...]:
    return row.graphs, row.breaks, row.recompiles, row.cache_hits, row.cache_misses
