"""Applies verified fixes to a text one after the other, until none improves it.

A fix that only moves a break is applied together with one that removes the break where it has gone.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from compile_lens.analysis.break_hints import LEAVE_LOOP_HINT
from compile_lens.analysis.finding import Finding, Kind
from compile_lens.analysis.finding_counts import FindingCounts
from compile_lens.analysis.finding_regions import is_of_region
from compile_lens.analysis.guard_sources import KEPT_ACROSS
from compile_lens.analysis.recompile_hints import ALWAYS_SPECIALIZED
from compile_lens.fixes.decisions import to_decide
from compile_lens.fixes.effect import NOT_COMPARED, FixEffect
from compile_lens.fixes.fix import Edit, Fix, FixKind, edits_between, tokens_changed
from compile_lens.fixes.next_fix import may_be_better
from compile_lens.fixes.offer import fixes_for
from compile_lens.fixes.verify import CandidateFix, Verifier
from compile_lens.syntax.regions import find_regions
from compile_lens.syntax.tree import SourceTree, parse

FIXABLE = (Kind.GRAPH_BREAK, Kind.RECOMPILE, Kind.RECOMPILE_LIMIT, Kind.COMPILE_ERROR)
WITHOUT_LOSS = (FixKind.CHANGE,)
WITH_LOSS = (FixKind.CHANGE, FixKind.LOSSY)
# what is not proposed where nothing else helps
_NOT_NAMED = (FixKind.IGNORE, FixKind.UNSAFE)
NO_REWRITE = "no rewrite fits"
# hints for what no rewrite does
_BY_HAND = re.compile(rf"{re.escape(LEAVE_LOOP_HINT)}|{re.escape(ALWAYS_SPECIALIZED)}|with the same number of items")
NOT_HERE = "it is not in this file"
MOST_STEPS = 40
# fixes that move a break, for which those of the moved one are tried
MOST_MOVED = 4

# of the findings of a text
Wanted = Callable[[Finding, Verifier], bool]


def every_finding(_finding: Finding, _verifier: Verifier) -> bool:
    """Nothing is left out."""
    return True


@dataclass(frozen=True, slots=True)
class Remaining:
    """A finding that is still there, and why, in a few words. ``tried`` are the fixes that were tried, ``undecided`` those that
    only the user can choose."""

    finding: Finding
    why: str
    tried: tuple[CandidateFix, ...] = ()
    undecided: tuple[Fix, ...] = ()


@dataclass(frozen=True, slots=True)
class Repaired:
    """What came of a text. ``steps`` are the fixes that were applied; ``counts`` of findings and ``graphs`` are those of the first and
    the last run."""

    before: str
    text: str
    steps: tuple[CandidateFix, ...]
    remaining: tuple[Remaining, ...]
    counts: tuple[FindingCounts, FindingCounts]
    graphs: tuple[int, int] = (0, 0)

    @property
    def words(self) -> str:
        """What all steps did together: ``3 → 0 breaks, 4 → 1 graph, results equal``."""
        results = self.steps[-1].effect.results if self.steps and self.steps[-1].effect is not None else NOT_COMPARED
        return FixEffect(*self.counts, graphs=self.graphs, results=results).words(Kind.GRAPH_BREAK)

    @property
    def edits(self) -> tuple[Edit, ...]:
        """What turns the first text into the last one."""
        return edits_between(self.before, self.text)

    def diff(self, name: str) -> str:
        """The change as a unified diff of the file ``name``; '' if there is none."""
        old, new = (text.splitlines(keepends=True) for text in (self.before, self.text))
        name = name.lstrip("/")
        pieces = difflib.unified_diff(old, new, fromfile=_in_diff(f"a/{name}"), tofile=_in_diff(f"b/{name}"))
        return "".join(
            piece if piece.endswith("\n") else f"{piece}\n\\ No newline at end of file\n" for piece in pieces
        )


def _in_diff(name: str) -> str:
    """``name`` as git writes it: what reads a diff would take lines of a name for those of another file, and end it at a tab."""
    if name.isprintable() and not set(name) & {'"', "\\"}:
        return name
    codes = (f"\\{byte:03o}" if byte < 32 or byte > 126 or byte in b'"\\' else chr(byte) for byte in os.fsencode(name))
    return f'"{"".join(codes)}"'


@dataclass(slots=True)
class Repair:
    """Repairs the text of ``verifier``. Findings that are not ``wanted`` are left; ``kinds`` of fixes may be applied.

    ``once``: one fix is enough. ``on_step`` is told each fix that is applied, ``on_try`` each that is about to be tried.
    """

    verifier: Verifier
    wanted: Wanted = every_finding
    kinds: Collection[FixKind] = WITHOUT_LOSS
    once: bool = False
    on_step: Callable[[CandidateFix], None] = lambda _: None
    on_try: Callable[[Finding, Fix], None] = lambda _finding, _fix: None
    _steps: list[CandidateFix] = field(default_factory=list)

    async def run(self, host: Any) -> Repaired:
        """Apply fixes on ``host`` until nothing improves any more. What the program computes stays equal at each step."""
        first, current = self.verifier, self.verifier
        while len(self._steps) < MOST_STEPS:
            step, remaining = await self._step(host, current)
            steps = (step,) if step is not None else await self._two_steps(host, current, remaining)
            if not steps:
                break
            for each in steps:
                self._steps.append(each)
                self.on_step(each)
                current = current.after(each.fix)
            if self.once:
                break
        else:
            remaining = [Remaining(finding, "too many steps") for finding in self._findings(current)]
        if self.once and self._steps:
            remaining = [Remaining(finding, "not tried without --all") for finding in self._findings(current)]
        return Repaired(
            first.text,
            current.text,
            tuple(self._steps),
            tuple(remaining),
            (first.before.counts, current.before.counts),
            (first.before.graphs, current.before.graphs),
        )

    async def _step(self, host: Any, verifier: Verifier) -> tuple[CandidateFix | None, list[Remaining]]:
        """The best fix of the first finding that has one; else why the findings have none."""
        tree = parse(verifier.text)
        remaining = []
        for finding in self._findings(verifier):
            if finding.place.file != verifier.job.file:
                remaining.append(Remaining(finding, NOT_HERE))
                continue
            tried = await self._tried(host, verifier, finding, tree)
            best = _best(tried)
            if best is not None:
                return best, []
            undecided = _undecided(verifier, finding, tree, self.kinds)
            remaining.append(Remaining(finding, _why(finding, tried, undecided), tuple(tried), undecided))
        return None, remaining

    async def _tried(self, host: Any, verifier: Verifier, finding: Finding, tree: SourceTree) -> list[CandidateFix]:
        """The fixes of ``finding`` that may be applied, with their effects; those that cannot be the best are left out."""
        tried: list[CandidateFix] = []
        for fix in fixes_for(finding, tree, verifier.before.unfiltered, verifier.before.torch):
            if fix.kind in self.kinds and may_be_better(verifier.text, fix, _best(tried)):
                self.on_try(finding, fix)
                effect = await verifier.effect(host, fix)
                tried.append(CandidateFix(finding, fix, effect, tokens_changed(verifier.text, fix)))
        return tried

    async def _two_steps(self, host: Any, verifier: Verifier, remaining: list[Remaining]) -> tuple[CandidateFix, ...]:
        """A fix that moves a break, and the best one of the break where it has gone; () where no two help.

        What is to decide about a moved break is added to what remains.
        """
        moving = [(number, each) for number, left in enumerate(remaining) for each in left.tried if _only_moves(each)]
        for number, each in moving[:MOST_MOVED]:
            moved = verifier.after(each.fix)
            tree = parse(moved.text)
            for finding in in_turn(_new(moved.before.unfiltered, tree, verifier)):
                best = _best(await self._tried(host, moved, finding, tree))
                if best is not None:
                    return each, best
                left = remaining[number]
                known = {fix.rule for fix in left.undecided}
                undecided = tuple(f for f in _undecided(moved, finding, tree, self.kinds) if f.rule not in known)
                if undecided:
                    why = f"{left.why}; after {each.fix.rule}, {to_decide(undecided)}"
                    remaining[number] = replace(left, why=why, undecided=(*left.undecided, *undecided))
        return ()

    def _findings(self, verifier: Verifier) -> list[Finding]:
        unfiltered = verifier.before.unfiltered
        return in_turn(finding for finding in unfiltered if finding.kind in FIXABLE and self.wanted(finding, verifier))


def in_turn(findings: Iterable[Finding]) -> list[Finding]:
    """Findings in the order in which they are repaired: the costliest first."""
    return sorted(findings, key=lambda finding: (-finding.weight, finding.place.line))


def of_region(name: str) -> Wanted:
    """The findings of the compile region ``name``, wherever the steps of a repair have moved it."""

    def is_wanted(finding: Finding, verifier: Verifier) -> bool:
        frames = {frame for region in verifier.before.regions if region.name == name for frame in region.frames}
        regions = (region for region in find_regions(verifier.text) if region.name == name)
        return any(is_of_region(finding, region, frames) for region in regions)

    return is_wanted


def _best(tried: Iterable[CandidateFix]) -> CandidateFix | None:
    return min((each for each in tried if each.is_proven), key=lambda each: each.rank, default=None)


def _undecided(verifier: Verifier, finding: Finding, tree: SourceTree, kinds: Collection[FixKind]) -> tuple[Fix, ...]:
    """The fixes of ``finding`` that are not of these ``kinds``, and that only the user can choose."""
    fixes = fixes_for(finding, tree, verifier.before.unfiltered, verifier.before.torch)
    return tuple(fix for fix in fixes if fix.kind not in (*kinds, *_NOT_NAMED))


def _only_moves(candidate: CandidateFix) -> bool:
    """Whether a fix for a break does no harm, and no good by itself: there may be another break, which was behind this one."""
    effect, kind = candidate.effect, candidate.finding.kind
    is_equal = effect is not None and not effect.harms and effect.results.equal is True
    return is_equal and kind is Kind.GRAPH_BREAK and not candidate.helps


def _new(findings: Iterable[Finding], tree: SourceTree, before: Verifier) -> list[Finding]:
    """The breaks of a changed text that the first one does not have: of another code, or in a line of another text."""
    first = parse(before.text)
    known = {(each.code, first.line_text(each.place.line).strip()) for each in before.before.unfiltered}
    breaks = [each for each in findings if each.kind is Kind.GRAPH_BREAK and each.place.file == before.job.file]
    return [each for each in breaks if (each.code, tree.line_text(each.place.line).strip()) not in known]


def _why(finding: Finding, tried: list[CandidateFix], undecided: tuple[Fix, ...]) -> str:
    best = min(tried, key=lambda each: each.rank, default=None)
    what = f"{best.fix.rule}: {best.words}" if best is not None else NO_REWRITE
    by_hand = [hint[:1].lower() + hint[1:].rstrip(".") for hint in finding.hints if _BY_HAND.search(hint)]
    if finding.kind is Kind.RECOMPILE and KEPT_ACROSS in finding.message:
        by_hand.append("it goes with the graph break")
    return "; ".join(filter(None, [what, to_decide(undecided), *by_hand]))
