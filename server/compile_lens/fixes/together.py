"""Several verified fixes as one change of a text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from compile_lens.analysis.finding import Finding
from compile_lens.fixes.fix import Edit, Fix, FixKind, make
from compile_lens.fixes.verify import Candidate

TOGETHER = "together"


def together(candidates: Iterable[Candidate], where: str = "") -> Fix | None:
    """The best proven fix of each finding, as one; None where there are not two that fit together.

    Those of other findings that touch the same text are left out. ``where`` names the region that they are in.
    """
    edits: dict[Edit, None] = {}
    fixes: set[Fix] = set()
    fixed: set[Finding] = set()
    for candidate in sorted(filter(is_proven, candidates), key=lambda each: each.rank):
        wanted = {**edits, **dict.fromkeys(candidate.fix.edits)}
        if candidate.finding not in fixed and candidate.fix not in fixes and not _overlap(list(wanted)):
            edits = wanted
            fixes.add(candidate.fix)
            fixed.add(candidate.finding)
    if len(fixes) < 2:
        return None
    return make(TOGETHER, f"Apply {len(fixes)} verified fixes{f' in `{where}`' if where else ''}", *edits)


def is_proven(candidate: Candidate) -> bool:
    """Whether a fix may be applied without a look: it keeps what the program does, helps, and results are known to be equal."""
    effect = candidate.effect
    return candidate.fix.kind is FixKind.CHANGE and effect is not None and effect.helps and effect.results.equal is True


def _overlap(edits: Sequence[Edit]) -> bool:
    places = sorted((e.place.line, e.place.column, e.place.end_line, e.place.end_column) for e in edits)
    return any(after[:2] < one[2:] for one, after in pairwise(places))
