"""Verifies a fix: analyzes the changed text, and compares the findings with those of the original."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field, replace
from typing import Any

from compile_lens.analysis.filters import Filters
from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.fixes.effect import FixEffect
from compile_lens.fixes.fix import Fix, apply_fix
from compile_lens.workers.job import Job

# a program that ran longer is not run again for each fix
LONGEST_RUN_S = 5.0
# a changed program that takes this many times longer does something else
PATIENCE = 4.0
LEAST_S = 10.0
# the outcomes that a comparison can start from
COMPARABLE = (Status.OK, Status.RAISED)

Analyze = Callable[[Any, Job, None, Filters], Awaitable[Outcome]]


def can_compare(outcome: Outcome) -> bool:
    """Whether the effect of a fix can be told from ``outcome``, in reasonable time."""
    return outcome.final and outcome.status in COMPARABLE and outcome.duration_s <= LONGEST_RUN_S


async def check_fix(analyze: Analyze, host: Any, job: Job, text: str, fix: Fix, before: Outcome) -> FixEffect:
    """Analyze ``text`` with ``fix`` applied as ``job`` says. ``before`` is the outcome of ``text`` itself."""
    timeout = min(job.timeout_s, max(LEAST_S, PATIENCE * before.duration_s))
    after = await analyze(host, replace(job, text=apply_fix(text, fix), timeout_s=timeout), None, Filters())
    ended = after.status is before.status or after.status is Status.OK
    return FixEffect(before.counts, after.counts, ended)


@dataclass(slots=True)
class FixEffects:
    """The effects that are known, of the newest text of each document that was checked."""

    _known: dict[str, tuple[str, dict[Fix, FixEffect]]] = field(default_factory=dict)

    def add(self, uri: str, text: str, fix: Fix, effect: FixEffect) -> None:
        """Remember what ``fix`` does to ``text``."""
        known = self._known.get(uri)
        if known is None or known[0] != text:
            known = self._known[uri] = (text, {})
        known[1][fix] = effect

    def get(self, uri: str, text: str, fix: Fix) -> FixEffect | None:
        """What ``fix`` does to ``text``, if that was checked."""
        known = self._known.get(uri)
        return known[1].get(fix) if known is not None and known[0] == text else None

    def keep(self, uris: Collection[str]) -> None:
        """Forget what is known of all other documents: they are closed."""
        self._known = {uri: known for uri, known in self._known.items() if uri in uris}
