"""Fixes and their effects as plain JSON values (docs/json.md)."""

from __future__ import annotations

from typing import Any

from compile_lens.analysis.finding import Finding
from compile_lens.fixes.effect import FixEffect
from compile_lens.fixes.one_graph import Kept
from compile_lens.fixes.repair import Repaired
from compile_lens.fixes.verify import CandidateFix

COUNTS = ("breaks", "recompiles", "refused", "errors", "uncompiled")


def repaired_json(file: str, repaired: Repaired, written: bool) -> dict[str, Any]:
    """What came of the repair of a file."""
    return {
        "file": file,
        "written": written,
        "steps": [candidate_json(step) for step in repaired.steps],
        "remaining": [
            {**_finding(left.finding), "why": left.why, "tried": [candidate_json(each) for each in left.tried]}
            for left in repaired.remaining
        ],
        "counts": {name: [getattr(counts, name) for counts in repaired.counts] for name in COUNTS},
        "diff": repaired.diff(file.rpartition("/")[2]),
    }


def candidate_json(candidate: CandidateFix) -> dict[str, Any]:
    """A fix for a finding, with its effect; ``effect`` is null where it is not verified, and ``why_not`` says why."""
    fix, effect = candidate.fix, candidate.effect
    return {
        "finding": _finding(candidate.finding),
        "rule": fix.rule,
        "title": fix.title,
        "kind": fix.kind.value,
        "tokens": candidate.tokens,
        "words": candidate.words,
        "why_not": candidate.why_not,
        "effect": None if effect is None else effect_json(effect),
    }


def kept_json(kept: Kept) -> dict[str, Any]:
    """A region that was tried with ``fullgraph=True``."""
    region = kept.whole.region
    return {
        "region": region.name,
        "line": region.line,
        "column": region.column,
        "title": kept.whole.fix.title,
        "words": kept.words,
        "holds": kept.holds,
        "effect": effect_json(kept.effect),
    }


def effect_json(effect: FixEffect) -> dict[str, Any]:
    """Each count is a pair: before and after."""
    results = effect.results
    return {
        **{name: [getattr(effect.before, name), getattr(effect.after, name)] for name in COUNTS},
        "graphs": list(effect.graphs),
        "helps": effect.helps,
        "harms": effect.harms,
        "results": {
            "equal": results.equal,
            "max_difference": results.difference,
            "values": results.values,
            "why": results.why,
        },
        "seconds": round(effect.seconds, 3),
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "kind": finding.kind.value,
        "line": finding.place.line,
        "column": finding.place.column,
        "file": finding.place.file,
        "message": finding.message,
    }
