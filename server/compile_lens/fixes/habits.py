"""Puts fixes into the order that the user's earlier choices in the workspace suggest."""

from __future__ import annotations

from collections.abc import Iterable

from compile_lens.fixes.fix import FixKind
from compile_lens.fixes.verify import CandidateFix
from compile_lens.state.fix_choices import Learned


def in_order(candidates: Iterable[CandidateFix], learned: Learned) -> list[CandidateFix]:
    """The best first. Among fixes that help alike, the kind that was taken for the same code; ignoring it first where that is usual."""

    def key(candidate: CandidateFix) -> tuple[int, ...]:
        tier, *rest = candidate.rank
        code = candidate.finding.code
        if candidate.fix.kind is FixKind.IGNORE and learned.ignores(code):
            tier = -1
        return (tier, -learned.times(code, candidate.fix.rule), *rest)

    return sorted(candidates, key=key)
