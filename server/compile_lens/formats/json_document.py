"""The JSON contract, version 1: see docs/json.md and docs/findings.schema.json."""

from __future__ import annotations

import json
from typing import Any

from compile_lens import __version__
from compile_lens.analysis.coverage import Coverage
from compile_lens.analysis.finding import Finding, RegionSummary
from compile_lens.analysis.outcome import Outcome
from compile_lens.analysis.outcome_parts import CompiledFunction
from compile_lens.diff.identity import TreeOf, identify

VERSION = 1


def to_json(outcomes: list[Outcome], tree_of: TreeOf) -> str:
    """All ``outcomes`` as one JSON document. ``tree_of`` parses a file that is on this machine."""
    document = {
        "version": VERSION,
        "tool": {"name": "compile-lens", "version": __version__},
        "runs": [_run(outcome, tree_of) for outcome in outcomes],
    }
    return json.dumps(document, indent=2)


def _run(outcome: Outcome, tree_of: TreeOf) -> dict[str, Any]:
    return {
        "file": outcome.file,
        "python": outcome.python,
        "torch": outcome.torch,
        "depth": outcome.depth,
        "entry": outcome.entry,
        "calls": [
            {"target": call.target, "text": call.text, "making": call.making, "inputs": call.inputs}
            for call in outcome.calls
        ],
        "coverage": _coverage(outcome.coverage),
        "passed_over": [{"entry": way.entry, "reason": way.reason} for way in outcome.passed_over],
        "status": outcome.status.value,
        "failure": outcome.failure,
        "sandbox": outcome.sandbox,
        "notes": list(outcome.notes),
        "duration_s": round(outcome.duration_s, 3),
        "ranks": [
            {
                "rank": row.rank,
                "graphs": row.graphs,
                "breaks": row.breaks,
                "recompiles": row.recompiles,
                "cache_hits": row.cache_hits,
                "cache_misses": row.cache_misses,
                "compile_time_s": round(row.compile_time_s, 3),
            }
            for row in outcome.ranks
        ],
        "regions": [_region(region) for region in outcome.regions],
        "compiled": None if outcome.compiled is None else [_compiled(one) for one in outcome.compiled],
        "findings": [finding_json(finding, tree_of) for finding in outcome.findings],
    }


def _coverage(coverage: Coverage | None) -> dict[str, Any] | None:
    if coverage is None:
        return None
    return {
        "lines": coverage.lines,
        "lines_analyzed": coverage.ran,
        "definitions": [
            {
                "name": unit.name,
                "line": unit.line,
                "analyzed": unit.is_analyzed,
                "reason": unit.reason,
                "draft": unit.draft,
                "failed_line": unit.failed_line,
                "change": list(unit.involved),
                "check": list(unit.beside),
                "expected": {
                    name: words for name, words in zip((*unit.involved, *unit.beside), unit.said, strict=False) if words
                },
            }
            for unit in coverage.units
        ],
    }


def _region(region: RegionSummary) -> dict[str, Any]:
    return {
        "name": region.name,
        "line": region.place.line,
        "graphs": region.graphs,
        "breaks": region.breaks,
        "recompiles": region.recompiles,
    }


def _compiled(one: CompiledFunction) -> dict[str, Any]:
    return {
        "file": one.file,
        "function": one.name,
        "line": one.line,
        "graphs": one.graphs,
        "ops": one.ops,
        "kernels": list(one.kernels),
    }


def finding_json(finding: Finding, tree_of: TreeOf) -> dict[str, Any]:
    """One finding, as every verb prints it."""
    place = finding.place
    identity = identify(finding, tree_of, "")
    return {
        "code": finding.code,
        "kind": finding.kind.value,
        "severity": finding.severity.value,
        "message": finding.message,
        "explanation": finding.explanation,
        "hints": list(finding.hints),
        "file": place.file,
        "line": place.line,
        "column": place.column,
        "end_line": place.end_line,
        "end_column": place.end_column,
        "function": identity.function,
        "source": identity.text,
        "count": finding.count,
        "frames": list(finding.frames),
        "related": [
            {"file": related.place.file, "line": related.place.line, "message": related.message}
            for related in finding.related
        ],
        "url": finding.url,
        "cost": finding.cost,
        "stage": finding.stage,
        "remedy": finding.remedy,
    }
