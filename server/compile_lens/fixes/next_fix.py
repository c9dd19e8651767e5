"""Chooses which fix to try next, so that soon each finding has one that was tried and helps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from compile_lens.analysis.finding import Finding
from compile_lens.fixes.effect import FixEffect
from compile_lens.fixes.fix import Fix, FixKind, tokens_changed
from compile_lens.fixes.offer import fixes_for
from compile_lens.fixes.verify import CandidateFix
from compile_lens.syntax.tree import parse


@dataclass(frozen=True, slots=True)
class FixesOf:
    """The fixes that may help with a finding, the most likely first."""

    finding: Finding
    fixes: tuple[Fix, ...]

    def is_served(self, known: Mapping[Fix, FixEffect]) -> bool:
        """Whether one that loses nothing is known to help."""
        return any(
            fix in known and fix.kind is FixKind.CHANGE and CandidateFix(self.finding, fix, known[fix]).is_proven
            for fix in self.fixes
        )


def fixes_of_each(text: str, findings: Sequence[Finding], torch: str) -> tuple[FixesOf, ...]:
    """The fixes of each finding of that version of torch that are worth a run: those that only ignore it are not."""
    tree = parse(text)
    offered = ((finding, fixes_for(finding, tree, findings, torch)) for finding in findings)
    return tuple(
        FixesOf(finding, tuple(fix for fix in fixes if fix.kind is not FixKind.IGNORE)) for finding, fixes in offered
    )


def next_fix(offered: Iterable[FixesOf], known: Mapping[Fix, FixEffect]) -> Fix | None:
    """The next fix to try, None if the effects of all are ``known``.

    A finding that has no fix yet comes before one that has. Of these, it is the most likely fix of each, then the second of each.
    A fix of one finding may be a fix of another: what is known of it counts for both. So one for more findings that have none comes
    before one for fewer.
    """
    turns = []
    offered = tuple(offered)
    unserved = [each for each in offered if not each.is_served(known)]
    for number, each in enumerate(offered):
        untried = next((turn for turn, fix in enumerate(each.fixes) if fix not in known), None)
        if untried is not None:
            fix = each.fixes[untried]
            wanted = sum(fix in other.fixes for other in unserved)
            turns.append((each not in unserved, untried, -wanted, number, fix))
    return min(turns, key=lambda turn: turn[:4])[4] if turns else None


def may_be_better(text: str, fix: Fix, best: CandidateFix | None) -> bool:
    """Whether a fix that has not been tried can come before ``best``: not where that leaves no finding and changes less."""
    if best is None or best.effect is None or best.fix.kind is not FixKind.CHANGE or not best.effect.leaves_nothing:
        return True
    return fix.kind is FixKind.CHANGE and tokens_changed(text, fix) < best.tokens
