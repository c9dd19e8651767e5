"""Which fix is tried next, and which ones need no try."""

from __future__ import annotations

from compile_lens.analysis.finding import Finding, Kind, Place, Severity
from compile_lens.analysis.finding_counts import FindingCounts
from compile_lens.fixes.effect import FixEffect
from compile_lens.fixes.fix import Edit, Fix
from compile_lens.fixes.next_fix import FixesOf, may_be_better, next_fix
from compile_lens.fixes.results import ResultsCompared
from compile_lens.fixes.verify import CandidateFix
from compile_lens.syntax.tree import Range

EQUAL = ResultsCompared(True)
HELPS = FixEffect(FindingCounts(breaks=2), FindingCounts(breaks=1), results=EQUAL)
CLEANS = FixEffect(FindingCounts(breaks=2), FindingCounts(), results=EQUAL)
IN_VAIN = FixEffect(FindingCounts(breaks=2), FindingCounts(breaks=2), results=EQUAL)


def finding(line: int) -> Finding:
    return Finding("GB0001", Kind.GRAPH_BREAK, Severity.WARNING, "m", Place("p.py", line, 1, line, 2))


def fix(rule: str, text: str = "") -> Fix:
    return Fix(rule, rule, (Edit(Range(1, 1, 1, 1), text),))


def order_of_tries(offered: list[FixesOf], effects: dict[str, FixEffect]) -> str:
    known: dict[Fix, FixEffect] = {}
    tried = ""
    while (now := next_fix(offered, known)) is not None:
        known[now] = effects.get(now.rule, IN_VAIN)
        tried += now.rule
    return tried


A, B, C, D, E = (fix(rule) for rule in "abcde")


def test_the_first_fixes_come_before_the_second_ones() -> None:
    offered = [FixesOf(finding(1), (A, B)), FixesOf(finding(2), (C, D, E))]
    assert order_of_tries(offered, {}) == "acbde"


def test_a_finding_without_a_fix_comes_before_those_that_have_one() -> None:
    offered = [FixesOf(finding(1), (A, B)), FixesOf(finding(2), (C, D, E))]
    assert order_of_tries(offered, {"a": HELPS, "d": HELPS}) == "acdbe"


def test_a_fix_that_helps_with_two_findings_is_tried_for_both() -> None:
    offered = [FixesOf(finding(1), (A, B)), FixesOf(finding(2), (C, A)), FixesOf(finding(3), (D,))]
    assert order_of_tries(offered[:1] + offered[2:], {"a": HELPS}) == "adb"
    assert order_of_tries([offered[0], FixesOf(finding(2), (A, C)), offered[2]], {"a": HELPS}) == "adbc"


def test_a_fix_for_more_findings_comes_first() -> None:
    offered = [FixesOf(finding(1), (A,)), FixesOf(finding(2), (B, C)), FixesOf(finding(3), (B, D))]
    assert order_of_tries(offered, {"b": HELPS}) == "bacd"


def test_findings_that_have_a_fix_do_not_make_another_one_come_first() -> None:
    offered = [
        FixesOf(finding(1), (A, D)),
        FixesOf(finding(2), (A, D)),
        FixesOf(finding(3), (B, C)),
        FixesOf(finding(4), (E,)),
    ]
    assert order_of_tries(offered, {"a": HELPS}) == "abecd"


def test_what_cannot_be_better_needs_no_try() -> None:
    text = "x\n"
    clean, partly = (CandidateFix(finding(1), fix("best", "a b c"), effect, 3) for effect in (CLEANS, HELPS))
    assert not may_be_better(text, fix("longer", "a b c d"), clean)
    assert may_be_better(text, fix("shorter", "a"), clean)
    assert may_be_better(text, fix("longer", "a b c d"), partly)
    assert may_be_better(text, fix("first", "a b c d"), None)
