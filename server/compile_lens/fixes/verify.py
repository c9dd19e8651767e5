"""Verifies fixes: runs the changed text, compares its findings with those of the original, and its results with the original in eager."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from compile_lens.analysis.filters import Filters
from compile_lens.analysis.finding import Finding, Kind, Severity
from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.fixes import after_dynamo
from compile_lens.fixes.effect import FixEffect
from compile_lens.fixes.fix import Fix, FixKind, apply_fix, tokens_changed
from compile_lens.fixes.offer import fixes_for
from compile_lens.fixes.results import ResultsCompared, compare_results
from compile_lens.syntax.tree import SourceTree, parse
from compile_lens.workers.job import Depth, Job, ResultNotes

# a program that ran longer is not run again for each fix
LONGEST_RUN_S = 5.0
# … unless the user asked for it and waits
LONGEST_REQUESTED_S = 60.0
# a changed program that takes this many times longer does something else
PATIENCE = 4.0
LEAST_S = 10.0
# the outcomes that a comparison can start from
COMPARABLE = (Status.OK, Status.RAISED)

Analyze = Callable[[Any, Job, None, Filters], Awaitable[Outcome]]


def can_compare(outcome: Outcome, longest_s: float = LONGEST_RUN_S) -> bool:
    """Whether the effect of a fix can be told from ``outcome``, in reasonable time."""
    return not why_not_verified(outcome, longest_s)


def why_not_verified(outcome: Outcome, longest_s: float = LONGEST_RUN_S) -> str:
    """Why no effect can be told from ``outcome``, as a clause of a few words; '' where it can."""
    if not outcome.final or outcome.status not in COMPARABLE:
        return "the run did not finish"
    ran_s = outcome.ran_s or outcome.duration_s - outcome.waited_s
    return "" if ran_s <= longest_s else f"the run took longer than {longest_s:.0f} s"


@dataclass(frozen=True, slots=True)
class CandidateFix:
    """A fix for ``finding`` and what it does; ``effect`` is None where that is not known, and ``why_not`` says why in a few words."""

    finding: Finding
    fix: Fix
    effect: FixEffect | None
    tokens: int = 0
    why_not: str = ""

    @property
    def words(self) -> str:
        """The effect, or why it is not known."""
        return self.effect.words(self.finding.kind) if self.effect is not None else f"not verified: {self.why_not}"

    @property
    def is_proven(self) -> bool:
        """Whether it helps for sure: nothing is new, and the results were compared and are equal."""
        return self.effect is not None and self.helps and self.effect.results.equal is True

    @property
    def is_offered(self) -> bool:
        """Whether it is worth being shown: it helps, is not tried, or says itself what else it does; an unsafe one only if it helps."""
        if self.fix.kind is FixKind.UNSAFE:
            return self.is_proven
        if self.fix.kind is FixKind.IGNORE or self.effect is None:
            return True
        return not self.effect.harms and (self.helps or self.fix.kind not in (FixKind.CHANGE, FixKind.SEPARATE))

    @property
    def helps(self) -> bool:
        """Whether it was verified that there is less of what the finding is about, and nothing new."""
        return self.effect is not None and self.effect.helps_with(self.finding, self.fix.kind in _MAY_LEAVE_OUT)

    @property
    def rank(self) -> tuple[int, int, int, int]:
        """Sorts candidates: those that help by how much, unverified ones, ways to leave code out, and ignoring the finding last."""
        kind = KIND_ORDER.index(self.fix.kind)
        if self.fix.kind is FixKind.IGNORE:
            return (9, 0, 0, 0)
        if self.effect is None:
            return (3, kind, 0, self.tokens)
        if not self.helps:
            return (5, kind, 0, self.tokens)
        return (0 if self.fix.kind is FixKind.CHANGE else 1 + kind, -self.effect.gain, kind, self.tokens)


def _why_not_ended(after: Outcome) -> str:
    """What the changed program does in the place of coming to its end, as a clause."""
    error = next((each.message for each in after.unfiltered if each.severity is Severity.ERROR), "")
    if after.status is Status.RAISED and error:
        own, error = "The program ", error.rstrip(".")
        return f"the program {error.removeprefix(own)}" if error.startswith(own) else f"the program fails: {error}"
    return "the program does not come to its end"


# what these leave out is left out on purpose
_MAY_LEAVE_OUT = (FixKind.EXCLUDE, FixKind.SKELETON)
KIND_ORDER = (
    FixKind.CHANGE,
    FixKind.SEPARATE,
    FixKind.LOSSY,
    FixKind.SKELETON,
    FixKind.EXCLUDE,
    FixKind.UNSAFE,
    FixKind.KEEP,
    FixKind.IGNORE,
)


@dataclass(slots=True)
class Verifier:
    """Tells the effects of fixes of one text. ``job`` runs it, and ``before`` is what came of that.

    What is known is kept: a text is run once.
    """

    analyze: Analyze
    job: Job
    text: str
    before: Outcome
    known: dict[Fix, FixEffect] = field(default_factory=dict)
    _by_text: dict[str, tuple[FixEffect, Outcome]] = field(default_factory=dict)
    _after: dict[str, Verifier] = field(default_factory=dict)
    _eager: Outcome | None = None
    _compiled: Outcome | None = None
    _lowered: Outcome | None = None
    # the first text is run once in each way, whoever needs it
    _original: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def effect(self, host: Any, fix: Fix) -> FixEffect:
        """What ``fix`` does, by a run on ``host`` unless it is known; by a second one if it may fail after Dynamo."""
        if fix not in self.known:
            self.known[fix] = await self.find_effect(host, fix)
        return self.known[fix]

    async def find_effect(self, host: Any, fix: Fix) -> FixEffect:
        """The same, which is not yet ``known`` then. Others may be looked for at the same time."""
        text = apply_fix(self.text, fix)
        effect = await self.effect_of_text(host, text)
        if fix.rule in after_dynamo.WHY and effect.helps and self.job.depth is Depth.DYNAMO:
            effect = await self._after_dynamo(host, text, effect)
        return effect

    async def _after_dynamo(self, host: Any, text: str, effect: FixEffect) -> FixEffect:
        """``effect``, with what fails in ``text`` after Dynamo and does not in the original."""
        if self._eager is None:
            return effect
        started = time.monotonic()
        fails = after_dynamo.what_fails(self._eager, await self._run(host, text, ResultNotes.LOWERED))
        if fails:
            async with self._original:
                if self._lowered is None:
                    self._lowered = await self._run(host, self.text, ResultNotes.LOWERED)
        if fails and self._lowered is not None and after_dynamo.what_fails(self._eager, self._lowered):
            fails = ""
        return replace(effect, fails_later=fails, seconds=effect.seconds + time.monotonic() - started)

    def after(self, fix: Fix) -> Verifier:
        """What tells the effects of further fixes, once ``fix`` is applied, whose effect is known.

        Results are still compared with those of the first text.
        """
        text = apply_fix(self.text, fix)
        if text not in self._after:
            job = replace(self.job, text=text)
            self._after[text] = Verifier(self.analyze, job, text, self._by_text[text][1], _eager=self._eager)
        return self._after[text]

    async def effect_of_text(self, host: Any, text: str) -> FixEffect:
        """What it does to run ``text`` in the place of the original."""
        if text not in self._by_text:
            self._by_text[text] = await self._effect_and_outcome(host, text)
        return self._by_text[text][0]

    async def _effect_and_outcome(self, host: Any, text: str) -> tuple[FixEffect, Outcome]:
        started = time.monotonic()
        after = await self._run(host, text, ResultNotes.COMPILED)
        ended = after.status is self.before.status or after.status is Status.OK
        results = await self._compared(host, after) if ended else ResultsCompared(None, _why_not_ended(after))
        effect = FixEffect(
            self.before.counts,
            after.counts,
            ended,
            (self.before.graphs, after.graphs),
            results,
            time.monotonic() - started,
            tuple(each.message for each in after.unfiltered if each.kind in (Kind.RECOMPILE, Kind.RECOMPILE_LIMIT)),
        )
        return effect, after

    async def run_eagerly(self, host: Any) -> Outcome:
        """The first text without compilation, whose results all others are compared with."""
        async with self._original:
            if self._eager is None:
                self._eager = await self._run(host, self.text, ResultNotes.EAGER)
        return self._eager

    async def _compared(self, host: Any, after: Outcome) -> ResultsCompared:
        eager = await self.run_eagerly(host)
        if eager.status is not Status.OK:
            return ResultsCompared(None, "the program fails in eager")
        compared = compare_results(eager.results, after.results)
        if compared.equal is not False or after.status is not Status.OK:
            return compared if after.status is Status.OK else ResultsCompared(None, "the program raises")
        async with self._original:
            if self._compiled is None:
                self._compiled = await self._run(host, self.text, ResultNotes.COMPILED)
        if self._compiled.status is Status.OK and not compare_results(eager.results, self._compiled.results).equal:
            return ResultsCompared(None, "they vary between runs")
        return compared

    async def _run(self, host: Any, text: str, results: ResultNotes) -> Outcome:
        job = replace(self.job, text=text, results=results)
        timeout = min(job.timeout_s, max(LEAST_S, PATIENCE * self.before.duration_s))
        outcome = await self.analyze(host, replace(job, timeout_s=timeout), None, Filters())
        if outcome.status is Status.TIMEOUT and 0 < outcome.ran_s < timeout / 2 and timeout < job.timeout_s:
            # other programs had the processors for most of it
            return await self.analyze(host, job, None, Filters())
        return outcome

    async def candidates(
        self, host: Any, finding: Finding, tree: SourceTree | None = None, rules: Iterable[str] = ()
    ) -> tuple[CandidateFix, ...]:
        """The fixes for ``finding`` with their effects, the best one first: harmful ones too (``is_offered`` tells).

        ``rules`` limits them to these; those that only ignore the finding are left out. The run must be one that ``can_compare``.
        """
        wanted = set(rules)
        found = []
        for fix in fixes_for(finding, tree or parse(self.text), self.before.unfiltered, self.before.torch):
            if fix.kind is not FixKind.IGNORE and (not wanted or fix.rule in wanted):
                effect = await self.effect(host, fix)
                found.append(CandidateFix(finding, fix, effect, tokens_changed(self.text, fix)))
        return tuple(sorted(found, key=lambda candidate: candidate.rank))
