"""Prints what happened on each rank of a job, one row a rank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.table import Table

from compile_lens.analysis.outcome import RankSummary
from compile_lens.analysis.ranks import rank_names

COLUMNS = ("rank", "graphs", "graph breaks", "recompiles", "cache hits", "cache misses", "compiling")
# of a job of hundreds, what is the same is one row
MOST_ROWS = 16


def rank_table(ranks: Sequence[RankSummary]) -> Table:
    """The rows of ``ranks``; of a job of many, those that are the same but for the time as one."""
    table = Table(*COLUMNS, box=None, pad_edge=False, header_style="bold")
    for column in table.columns:
        column.justify = "right"
    slowest = max(row.compile_time_s for row in ranks)
    usual = Counter(_counts(row) for row in ranks).most_common(1)[0][0]
    for members in _groups(ranks):
        counts = _counts(members[0])
        times = sorted(row.compile_time_s for row in members)
        seconds = f"{times[0]:.2f} s" if times[0] == times[-1] else f"{times[0]:.2f} to {times[-1]:.2f} s"
        cells = [rank_names([row.rank for row in members]).partition(" ")[2], *map(str, counts), seconds]
        cells[1:-1] = [
            cell if counts[at] == usual[at] else f"[bold yellow]{cell}[/]" for at, cell in enumerate(cells[1:-1])
        ]
        if times[-1] == slowest and len(ranks) > 1 and slowest > 1.5 * min(row.compile_time_s for row in ranks):
            cells[-1] = f"[bold yellow]{cells[-1]}[/]"
        table.add_row(*cells)
    return table


def _groups(ranks: Sequence[RankSummary]) -> list[list[RankSummary]]:
    if len(ranks) <= MOST_ROWS:
        return [[row] for row in ranks]
    groups: dict[tuple[int, ...], list[RankSummary]] = {}
    for row in ranks:
        groups.setdefault(_counts(row), []).append(row)
    return list(groups.values())


def _counts(row: RankSummary) -> tuple[int, ...]:
    return row.graphs, row.breaks, row.recompiles, row.cache_hits, row.cache_misses
