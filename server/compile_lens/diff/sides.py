"""Makes a side of a comparison: of outcomes, or of a report that was saved as JSON."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from compile_lens.analysis.finding_counts import count_findings
from compile_lens.analysis.outcome import Outcome
from compile_lens.analysis.outcome_parts import CompiledFunction
from compile_lens.diff.comparison import Located, Side, Totals
from compile_lens.diff.compiled import relative_to
from compile_lens.diff.gate import depends_on_code
from compile_lens.diff.identity import Identity, TreeOf, identify, relative
from compile_lens.trace.records import UNREADABLE


class Unreadable(Exception):
    """A side of a comparison cannot be had; its text is one sentence for the user."""


def side_of_outcomes(name: str, outcomes: list[Outcome], tree_of: TreeOf, root: str) -> Side:
    """The findings of ``outcomes`` that the code is the cause of; files are relative to ``root``."""
    findings = [finding for outcome in outcomes for finding in outcome.findings if depends_on_code(finding)]
    counts = count_findings(findings)
    compiled = relative_to([one for outcome in outcomes for one in outcome.compiled or ()], root)
    knows = any(outcome.compiled is not None for outcome in outcomes)
    return Side(
        name,
        tuple(Located(identify(one, tree_of, root), one.place.line, one.severity.value, one.count) for one in findings),
        Totals(
            graphs=sum(outcome.graphs for outcome in outcomes),
            breaks=counts.breaks,
            recompiles=counts.recompiles,
            compile_time_s=sum(outcome.compile_time_s for outcome in outcomes),
            kernels=_kernels(compiled),
        ),
        compiled if knows else None,
    )


def side_of_report(name: str, document: Any) -> Side:
    """The side that a JSON document (docs/json.md) tells of. Raises Unreadable."""
    if not isinstance(document, dict) or document.get("version") != 1 or not isinstance(document.get("runs"), list):
        raise Unreadable(f"{name} is not a report of compile-lens: `check --format json` writes one.")
    try:
        runs = document["runs"]
        rows = [row for run in runs for row in run["findings"]]
        folders = [os.path.dirname(row["file"]) for row in rows]  # noqa: PTH120 - may be paths of another system
        root = os.path.commonpath(folders) if folders else ""
        compiled = relative_to(
            [
                CompiledFunction(
                    row["file"], row["function"], row["line"], row["graphs"], row["ops"], tuple(row["kernels"])
                )
                for run in runs
                for row in run.get("compiled") or ()
            ],
            root,
        )
        return Side(
            name,
            tuple(_located(row, root) for row in rows),
            Totals(
                graphs=sum(region["graphs"] for run in runs for region in run["regions"]),
                breaks=sum(row["count"] for row in rows if row["kind"] == "graph-break"),
                recompiles=sum(row["count"] for row in rows if row["kind"] == "recompile"),
                kernels=_kernels(compiled),
            ),
            compiled if any(run.get("compiled") is not None for run in runs) else None,
        )
    except UNREADABLE as error:
        raise Unreadable(f"{name} is not a complete report of compile-lens ({error}).") from None


def _kernels(compiled: Sequence[CompiledFunction]) -> int | None:
    """How many kernels were made; None for a run that did not come to Inductor."""
    return sum(len(one.kernels) for one in compiled) or None


def _located(row: dict[str, Any], root: str) -> Located:
    identity = Identity(
        relative(row["file"], root),
        row["kind"],
        row["code"],
        row.get("function", ""),
        row.get("source", ""),
        row["message"],
    )
    return Located(identity, row["line"], row["severity"], row["count"])
