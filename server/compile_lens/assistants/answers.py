"""Makes short answers of outcomes: the numbers first, then findings, each with its file, line and column."""

from __future__ import annotations

from typing import Any

from compile_lens.analysis.finding import Finding, Place
from compile_lens.analysis.finding_counts import FindingCounts
from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.assistants.bench import Source
from compile_lens.assistants.quoting import quoted
from compile_lens.diff.identity import TreeOf
from compile_lens.wording import counted

MOST_HINTS = 3
MOST_CALLERS = 4
LONGEST_OUTPUT = 400
TEXT: dict[str, Any] = {"type": "string"}
NUMBER: dict[str, Any] = {"type": "integer"}


def array_of(items: dict[str, Any]) -> dict[str, Any]:
    """The schema of a list."""
    return {"type": "array", "items": items}


def object_of(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    """The schema of an object."""
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


COUNTS = {
    "graphs": NUMBER,
    "graph_breaks": NUMBER,
    "recompiles": NUMBER,
    "calls_past_recompile_limit": NUMBER,
    "errors": NUMBER,
    "not_compiled": NUMBER,
}
SUMMARY = object_of(COUNTS, *COUNTS)
FINDING = object_of(
    {
        "id": TEXT,
        "kind": TEXT,
        "severity": TEXT,
        "place": TEXT,
        "source": TEXT,
        "message": TEXT,
        "explanation": TEXT,
        "hints": array_of(TEXT),
        "called_from": array_of(TEXT),
        "count": NUMBER,
        "cost": TEXT,
        "page": TEXT,
    },
    "id",
    "kind",
    "severity",
    "place",
    "message",
)
LEFT_OUT = {"type": "object", "additionalProperties": {"type": ["integer", "string"]}}
RUN = {
    "file": TEXT,
    "text_from": TEXT,
    "status": TEXT,
    "torch": TEXT,
    "sandbox": TEXT,
    "entry": TEXT,
    "summary": SUMMARY,
    "failure": TEXT,
    "numbers": TEXT,
    "findings": array_of(FINDING),
    "notes": array_of(TEXT),
    "output": TEXT,
    "left_out": LEFT_OUT,
}


def place_text(place: Place, asked: str) -> str:
    """``FILE:LINE:COLUMN``, from 1. The file is always there: as the assistant named it, if it ``asked`` about that one; the names of
    others come from the program."""
    where = f"{place.file}:{place.line}:{place.column}"
    return where if place.file == asked else quoted(where)


def finding_id(finding: Finding) -> str:
    """What other tools and the command line take as a finding."""
    return f"{finding.code}@{finding.place.line}"


def page_uri(finding: Finding) -> str:
    """The resource that explains this kind of finding."""
    return f"compile-lens://findings/{finding.kind.value}"


def summary(outcome: Outcome) -> dict[str, int]:
    """What was counted in a run."""
    return counts(outcome.counts, outcome.graphs)


def counts(found: FindingCounts, graphs: int) -> dict[str, int]:
    """The same of counts."""
    return {
        "graphs": graphs,
        "graph_breaks": found.breaks,
        "recompiles": found.recompiles,
        "calls_past_recompile_limit": found.refused,
        "errors": found.errors,
        "not_compiled": found.uncompiled,
    }


def finding_answer(finding: Finding, asked: str, tree_of: TreeOf | None, in_full: bool) -> dict[str, Any]:
    """One finding of the file ``asked`` about; ``in_full`` with what explains it. Without ``tree_of``, its source is not shown."""
    tree = tree_of(finding.place.file) if tree_of is not None else None
    found: dict[str, Any] = {
        "id": finding_id(finding),
        "kind": finding.kind.value,
        "severity": finding.severity.value,
        "place": place_text(finding.place, asked),
        "source": quoted(tree.line_text(finding.place.line)) if tree is not None else "",
        "message": quoted(finding.message),
        "hints": [quoted(hint) for hint in finding.hints[:MOST_HINTS]],
        "count": finding.count if finding.count > 1 else 0,
        "cost": quoted(finding.cost),
    }
    if in_full:
        callers = finding.call_path[:-1][-MOST_CALLERS:]
        found["explanation"] = quoted(finding.explanation)
        found["called_from"] = [f"{place_text(site.place, asked)} in {quoted(site.function)}" for site in callers]
        found["page"] = page_uri(finding)
    return {name: value for name, value in found.items() if value or name in FINDING["required"]}


def by_weight(findings: tuple[Finding, ...]) -> list[Finding]:
    """The most severe first, then the costliest."""
    return sorted(findings, key=lambda finding: (finding.severity.rank, -finding.weight))


def run_answer(outcome: Outcome, source: Source, in_full: bool = False) -> dict[str, Any]:
    """What came of a run."""
    tree_of = source.tree_of()
    found: dict[str, Any] = {
        "file": source.file,
        "text_from": source.origin,
        "status": outcome.status.value,
        "torch": outcome.torch,
        "sandbox": outcome.sandbox,
        "entry": quoted(outcome.entry),
        "summary": summary(outcome),
        "failure": quoted(outcome.failure),
        "numbers": numbers(outcome),
        "findings": [finding_answer(one, source.file, tree_of, in_full) for one in by_weight(outcome.findings)],
        "notes": [quoted(note) for note in outcome.notes],
        "output": quoted(outcome.output[-LONGEST_OUTPUT:]) if outcome.status is not Status.OK else "",
    }
    kept = ("file", "status", "summary", "findings")
    return {name: value for name, value in found.items() if value or name in kept}


def numbers(outcome: Outcome) -> str:
    """What the comparison with eager says; '' if there was none."""
    found = outcome.compared
    if found is None:
        return ""
    right = found.bitwise + found.rounding
    parts = [
        f"{counted(right, 'graph')} equal to eager within torch's tolerances ({found.bitwise} bit for bit)"
        if right
        else "",
        f"{counted(found.wrong, 'graph')} not equal to eager: see the findings of kind wrong-numbers"
        if found.wrong
        else "",
        f"{counted(found.not_compared, 'graph')} not compared" if found.not_compared else "",
    ]
    return "; ".join(filter(None, parts)) or "No graph was compared."
