"""What changed between two analyses: findings that are new or gone, and the totals of each file."""

from __future__ import annotations

from dataclasses import dataclass

from compile_lens.analysis.outcome_parts import CompiledFunction
from compile_lens.diff.compiled import CompiledChange, compare_compiled
from compile_lens.diff.identity import Identity
from compile_lens.diff.matching import match


@dataclass(frozen=True, slots=True)
class Located:
    """A finding of one side: what it is recognized by, and where it stands there."""

    identity: Identity
    line: int
    severity: str
    count: int


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over the regions of one side. Times are in seconds; None where a saved report does not have them."""

    graphs: int = 0
    breaks: int = 0
    recompiles: int = 0
    compile_time_s: float | None = None
    kernels: int | None = None


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two analyses. ``name`` is what the user called it; ``compiled`` is None if it is not known."""

    name: str
    findings: tuple[Located, ...]
    totals: Totals
    compiled: tuple[CompiledFunction, ...] | None = None


@dataclass(frozen=True, slots=True)
class FindingChange:
    """A finding that both sides have and that is not equal: its line was edited, its message names other values, or its count differs."""

    before: Located
    after: Located


@dataclass(frozen=True, slots=True)
class AnalysisComparison:
    """``same`` counts findings that differ at most in the number of their line. ``compiled`` is empty if one side does not know it."""

    before: Side
    after: Side
    new: tuple[Located, ...]
    gone: tuple[Located, ...]
    changed: tuple[FindingChange, ...]
    same: int
    compiled: tuple[CompiledChange, ...] = ()


def compare(before: Side, after: Side) -> AnalysisComparison:
    """Pair the findings of both sides (diff/matching.py)."""
    matched = match([one.identity for one in before.findings], [one.identity for one in after.findings])
    pairs = [FindingChange(before.findings[earlier], after.findings[later]) for earlier, later in matched.pairs]
    changed = tuple(pair for pair in pairs if _differs(pair))
    return AnalysisComparison(
        before,
        after,
        new=tuple(after.findings[index] for index in matched.new),
        gone=tuple(before.findings[index] for index in matched.gone),
        changed=changed,
        same=len(pairs) - len(changed),
        compiled=compare_compiled(before.compiled, after.compiled)
        if before.compiled is not None and after.compiled is not None
        else (),
    )


def _differs(pair: FindingChange) -> bool:
    before, after = pair.before, pair.after
    return (before.identity, before.count, before.severity) != (after.identity, after.count, after.severity)
