"""Fixes that are tried two at a time count in the order in which they would be tried one after the other."""

from __future__ import annotations

import asyncio
from itertools import permutations
from typing import Any, cast

import pytest

from compile_lens.analysis.finding import Finding, Kind, Place, Severity
from compile_lens.analysis.finding_counts import FindingCounts
from compile_lens.analysis.outcome import Outcome
from compile_lens.fixes.effect import FixEffect
from compile_lens.fixes.fix import Edit, Fix, FixKind
from compile_lens.fixes.look_ahead import LookAhead
from compile_lens.fixes.next_fix import FixesOf
from compile_lens.fixes.results import ResultsCompared
from compile_lens.fixes.verify import Verifier
from compile_lens.syntax.tree import Range
from compile_lens.workers.job import Job

HELPS = FixEffect(FindingCounts(breaks=2), FindingCounts(breaks=1), results=ResultsCompared(True))
IN_VAIN = FixEffect(FindingCounts(breaks=2), FindingCounts(breaks=2), results=ResultsCompared(True))


def finding(line: int) -> Finding:
    return Finding("GB0001", Kind.GRAPH_BREAK, Severity.WARNING, "m", Place("p.py", line, 1, line, 2))


def fix(rule: str, kind: FixKind = FixKind.CHANGE) -> Fix:
    return Fix(rule, rule, (Edit(Range(1, 1, 1, 1), "x"),), kind)


A, B, C, D, E = (fix(rule) for rule in "abcde")
LOSSY = fix("l", FixKind.LOSSY)
OFFERED = (
    FixesOf(finding(1), (A, B)),
    FixesOf(finding(2), (C, B, D)),
    FixesOf(finding(3), (E, LOSSY)),
)
EVERY = (A, B, C, D, E, LOSSY)


EAGERLY = fix("=")


class Tries:
    """Runs that end when they are told to: those that are ``slow`` only where nothing else is under way."""

    def __init__(self, helpful: tuple[Fix, ...] = (), slow: tuple[Fix, ...] = ()) -> None:
        self.helpful = helpful
        self.slow = slow
        self.begun: list[str] = []
        self.under_way: set[Fix] = set()
        self.together: set[str] = set()
        self.canceled: list[str] = []

    async def find(self, fix: Fix) -> FixEffect:
        self.begun.append(fix.rule)
        self.under_way.add(fix)
        self.together.add("".join(sorted(each.rule for each in self.under_way)))
        try:
            for _ in range(5 + 20 * (self.slow.index(fix) if fix in self.slow else 0)):
                await asyncio.sleep(0)
        except asyncio.CancelledError:
            self.canceled.append(fix.rule)
            raise
        finally:
            self.under_way.discard(fix)
        return HELPS if fix in self.helpful else IN_VAIN

    async def prepare(self) -> None:
        await self.find(EAGERLY)


def verifier() -> Verifier:
    return Verifier(cast("Any", None), Job("p.py"), "", cast("Outcome", None))


def order(tries: Tries, width: int, most: int = 16, offered: tuple[FixesOf, ...] = OFFERED) -> str:
    async def tried() -> str:
        told, of = "", verifier()
        async with LookAhead(offered, of, tries.find, most, lambda: width, tries.prepare).tried() as fixes:
            async for fix in fixes:
                told += fix.rule
                assert "".join(each.rule for each in of.known) == told
        return told

    return asyncio.run(tried())


@pytest.mark.parametrize("helpful", [(), (A,), (B,), (A, C), (C, E), EVERY])
def test_the_order_does_not_depend_on_how_many_are_tried_at_a_time(helpful: tuple[Fix, ...]) -> None:
    for most in (1, 3, 16):
        expected = order(Tries(helpful), 1, most)
        assert len(expected) == min(most, len(EVERY))
        for slow in permutations((*EVERY, EAGERLY), 3):
            assert order(Tries(helpful, slow), 2, most) == expected


def test_one_at_a_time_is_one_at_a_time() -> None:
    tries = Tries()
    order(tries, 1)
    assert all(len(rules) == 1 for rules in tries.together)
    assert EAGERLY.rule not in tries.begun  # the first try that needs it does it


def test_two_are_tried_at_a_time_and_never_more() -> None:
    tries = Tries()
    order(tries, 2)
    assert max(map(len, tries.together)) == 2


def test_what_all_are_compared_with_is_run_once_beside_the_first_try() -> None:
    tries = Tries()
    order(tries, 2)
    assert tries.begun[:2] == ["a", "="]
    assert tries.begun.count("=") == 1


def test_no_more_are_begun_than_may_be_tried() -> None:
    tries = Tries()
    order(tries, 2, 3)
    assert len(tries.begun) == 3 + 1


def test_what_no_finding_waits_for_does_not_slow_down_what_one_waits_for() -> None:
    offered = (FixesOf(finding(1), (A, LOSSY)), FixesOf(finding(2), (A, fix("m", FixKind.LOSSY))))
    tries = Tries((A,))
    order(tries, 2, offered=offered)
    assert tries.begun[0] == "a"
    assert tries.together >= {"=a", "lm"}
    assert not any("a" in rules for rules in tries.together - {"a", "=a"})


def test_what_is_looked_ahead_at_is_for_a_finding_that_waits_for_no_try() -> None:
    offered = (
        FixesOf(finding(1), (D, A, B)),
        FixesOf(finding(2), (A,)),
        FixesOf(finding(3), (B,)),
        FixesOf(finding(4), (E,)),
    )
    tries = Tries((B, E), slow=(A, B))
    assert order(tries, 2, offered=offered) == "abed"
    assert tries.begun == ["a", "=", "b", "e", "d"]  # not d before e, which is in vain if b helps


def test_what_is_under_way_is_canceled_at_the_end() -> None:
    async def first_alone(tries: Tries) -> None:
        async with LookAhead(OFFERED, verifier(), tries.find, 16, lambda: 2, tries.prepare).tried() as fixes:
            async for _ in fixes:
                return

    tries = Tries(slow=(EAGERLY, A, C))
    asyncio.run(first_alone(tries))
    assert tries.canceled == ["c"]
    tries = Tries(slow=(A, EAGERLY))
    asyncio.run(first_alone(tries))
    assert tries.canceled == ["="]
    assert not tries.under_way


def test_a_try_that_raises_ends_the_others() -> None:
    class Broken(Tries):
        async def find(self, fix: Fix) -> FixEffect:
            if fix is A:
                await asyncio.sleep(0)
                raise OSError("gone")
            return await super().find(fix)

    tries = Broken()
    with pytest.raises(OSError, match="gone"):
        order(tries, 2)
    assert not tries.under_way


def test_what_cannot_be_prepared_stops_no_try() -> None:
    class Unprepared(Tries):
        async def prepare(self) -> None:
            raise OSError("gone")

    assert order(Unprepared(), 2) == order(Tries(), 1)
