"""Counts what happened in a run."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from compile_lens.analysis.finding import Finding, Kind


class FindingCounts(Struct, frozen=True):
    """Sums over findings, those that the user hides included. ``refused`` counts calls past the recompile limit."""

    breaks: int = 0
    recompiles: int = 0
    refused: int = 0
    errors: int = 0
    uncompiled: int = 0


def count_findings(findings: Iterable[Finding]) -> FindingCounts:
    """Sum ``findings`` by kind."""
    counts = dict.fromkeys(Kind, 0)
    for finding in findings:
        counts[finding.kind] += finding.count
    return FindingCounts(
        breaks=counts[Kind.GRAPH_BREAK],
        recompiles=counts[Kind.RECOMPILE],
        refused=counts[Kind.RECOMPILE_LIMIT],
        errors=counts[Kind.COMPILE_ERROR] + counts[Kind.RUN_ERROR],
        uncompiled=counts[Kind.NOT_COMPILED],
    )
