"""Applies verified fixes to a text one after the other, until none improves it."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

from compile_lens.analysis.finding import Finding, Kind
from compile_lens.analysis.finding_counts import FindingCounts
from compile_lens.analysis.outcome import Outcome
from compile_lens.fixes.fix import FixKind, tokens_changed
from compile_lens.fixes.offer import fixes_for
from compile_lens.fixes.verify import Candidate, Verifier
from compile_lens.syntax.tree import parse

FIXABLE = (Kind.GRAPH_BREAK, Kind.RECOMPILE, Kind.RECOMPILE_LIMIT, Kind.COMPILE_ERROR)
WITHOUT_LOSS = (FixKind.CHANGE,)
WITH_LOSS = (FixKind.CHANGE, FixKind.LOSSY)
NO_REWRITE = "no rewrite fits"
NOT_HERE = "it is not in this file"
MOST_STEPS = 40

Wanted = Callable[[Finding], bool]


@dataclass(frozen=True, slots=True)
class Remaining:
    """A finding that is still there, and why, in a few words. ``tried`` are the fixes that were tried."""

    finding: Finding
    why: str
    tried: tuple[Candidate, ...] = ()


@dataclass(frozen=True, slots=True)
class Repaired:
    """What came of a text. ``steps`` are the fixes that were applied, ``counts`` of findings are those of the first and the last run."""

    before: str
    text: str
    steps: tuple[Candidate, ...]
    remaining: tuple[Remaining, ...]
    counts: tuple[FindingCounts, FindingCounts]

    def diff(self, name: str) -> str:
        """The change as a unified diff of the file ``name``; '' if there is none."""
        old, new = (text.splitlines(keepends=True) for text in (self.before, self.text))
        name = name.lstrip("/")
        pieces = difflib.unified_diff(old, new, fromfile=f"a/{name}", tofile=f"b/{name}")
        return "".join(
            piece if piece.endswith("\n") else f"{piece}\n\\ No newline at end of file\n" for piece in pieces
        )


@dataclass(slots=True)
class Repair:
    """Repairs the text of ``verifier``. Findings that are not ``wanted`` are left; ``kinds`` of fixes may be applied.

    ``once``: one fix is enough. ``on_step`` is told each fix that is applied.
    """

    verifier: Verifier
    wanted: Wanted = lambda _: True
    kinds: Collection[FixKind] = WITHOUT_LOSS
    once: bool = False
    on_step: Callable[[Candidate], None] = lambda _: None
    _steps: list[Candidate] = field(default_factory=list)

    async def run(self, host: Any) -> Repaired:
        """Apply fixes on ``host`` until nothing improves any more. What the program computes stays equal at each step."""
        first, current = self.verifier, self.verifier
        while len(self._steps) < MOST_STEPS:
            step, remaining = await self._step(host, current)
            if step is None:
                break
            self._steps.append(step)
            self.on_step(step)
            current = current.after(step.fix)
            if self.once:
                break
        else:
            remaining = [Remaining(finding, "too many steps") for finding in self._findings(current.before)]
        if self.once and self._steps:
            remaining = [Remaining(finding, "not tried without --all") for finding in self._findings(current.before)]
        return Repaired(
            first.text,
            current.text,
            tuple(self._steps),
            tuple(remaining),
            (first.before.counts, current.before.counts),
        )

    async def _step(self, host: Any, verifier: Verifier) -> tuple[Candidate | None, list[Remaining]]:
        """The best fix of the first finding that has one; else why the findings have none."""
        tree = parse(verifier.text)
        remaining = []
        for finding in self._findings(verifier.before):
            if finding.place.file != verifier.job.file:
                remaining.append(Remaining(finding, NOT_HERE))
                continue
            tried = []
            for fix in fixes_for(finding, tree, verifier.before.unfiltered):
                if fix.kind in self.kinds:
                    effect = await verifier.effect(host, fix)
                    tried.append(Candidate(finding, fix, effect, tokens_changed(verifier.text, fix)))
            best = min((each for each in tried if _is_applied(each)), key=lambda each: each.rank, default=None)
            if best is not None:
                return best, []
            other = [
                fix.rule
                for fix in fixes_for(finding, tree, verifier.before.unfiltered)
                if fix.kind not in self.kinds and fix.kind is not FixKind.IGNORE
            ]
            remaining.append(Remaining(finding, _why(tried, other), tuple(tried)))
        return None, remaining

    def _findings(self, outcome: Outcome) -> list[Finding]:
        found = [finding for finding in outcome.unfiltered if finding.kind in FIXABLE and self.wanted(finding)]
        return sorted(found, key=lambda finding: (-finding.weight, finding.place.line))


def _is_applied(candidate: Candidate) -> bool:
    """Whether the user has let it be applied, and it helps for sure."""
    effect = candidate.effect
    return effect is not None and candidate.helps and effect.results.equal is True


def _why(tried: list[Candidate], other: list[str]) -> str:
    left = f"; needs a decision: {', '.join(dict.fromkeys(other))}" if other else ""
    if not tried:
        return f"{NO_REWRITE}{left}"
    best = min(tried, key=lambda each: each.rank)
    return f"{best.fix.rule}: {best.words}{left}"
