"""What a test or a check allows torch.compile to do, and how it was exceeded."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from msgspec.structs import replace

from compile_lens.analysis.finding import Finding
from compile_lens.analysis.finding_counts import count_findings
from compile_lens.analysis.kinds import Kind
from compile_lens.analysis.outcome import TRACE_ENTRY, Outcome, Status
from compile_lens.analysis.sources import LIBRARY
from compile_lens.wording import counted

# a graph break after which the whole function falls back to eager (analysis/graph_breaks.py says it in the message)
FALLS_BACK = "falls back to eager"


class BadBudget(Exception):
    """Limits cannot be understood; its text is one sentence for the user."""


@dataclass(frozen=True, slots=True)
class Budget:
    """None allows any number. ``max_compile_seconds`` is in seconds of wall clock; the others count occurrences."""

    max_breaks: int | None = None
    max_recompiles: int | None = None
    max_graphs: int | None = None
    max_skipped: int | None = None
    max_syncs: int | None = None
    max_compile_seconds: float | None = None
    own_code_only: bool = False

    def exceeded(self, outcome: Outcome, display_path: Callable[[str], str]) -> list[str]:
        """A sentence for each limit that ``outcome`` exceeds, with the findings that count below it."""
        if self.own_code_only:
            own = tuple(finding for finding in outcome.findings if _is_in_own_code(finding))
            outcome = replace(outcome, findings=own)
        counted_findings = {
            "graph break": (self.max_breaks, _of(outcome, Kind.GRAPH_BREAK)),
            "recompile": (self.max_recompiles, _of(outcome, Kind.RECOMPILE)),
            "skipped function": (
                self.max_skipped,
                [finding for finding in _of(outcome, Kind.GRAPH_BREAK) if FALLS_BACK in finding.message],
            ),
            "synchronization with the GPU": (
                self.max_syncs,
                [finding for finding in outcome.findings if finding.code == "device-sync"],
            ),
        }
        said = []
        for noun, (limit, findings) in counted_findings.items():
            number = sum(finding.count for finding in findings)
            if limit is not None and number > limit:
                lines = [
                    f"  {display_path(place.file)}:{place.line}: {f.code}: {f.message}"
                    for f in findings
                    for place in [f.place]
                ]
                said.append("\n".join([f"{counted(number, noun)}; at most {limit} allowed:", *lines]))
        if self.max_graphs is not None and outcome.graphs > self.max_graphs:
            said.append(f"{counted(outcome.graphs, 'graph')}; at most {self.max_graphs} allowed.")
        if self.max_compile_seconds is not None and outcome.compile_time_s > self.max_compile_seconds:
            said.append(
                f"{outcome.compile_time_s:.1f} s of compile time; at most {self.max_compile_seconds} s allowed."
            )
        return said


def total(outcomes: list[Outcome]) -> Outcome:
    """One outcome for several slices of a trace."""
    findings = tuple(finding for outcome in outcomes for finding in outcome.findings)
    return Outcome(
        file="",
        python="",
        torch="",
        depth="inductor",
        entry=TRACE_ENTRY,
        status=Status.OK,
        duration_s=0.0,
        findings=findings,
        counts=count_findings(findings),
        graphs=sum(outcome.graphs for outcome in outcomes),
        compile_time_s=sum(outcome.compile_time_s for outcome in outcomes),
    )


def budget_of_pairs(pairs: Sequence[str]) -> Budget:
    """The budget that texts such as ``max_breaks=0`` state; names may have dashes. Raises BadBudget."""
    arguments: dict[str, Any] = {}
    for pair in pairs:
        name, _, value = (part.strip() for part in pair.partition("="))
        try:
            arguments[name.replace("-", "_")] = json.loads(value.lower())
        except (ValueError, RecursionError):
            raise BadBudget(f"'{pair}' is not a limit, such as max_breaks=0.") from None
    return budget_of(arguments)


def budget_of(arguments: dict[str, Any]) -> Budget:
    """The budget that a marker or a test class states. Raises BadBudget."""
    known = {one.name for one in fields(Budget)}
    if unknown := sorted(arguments.keys() - known):
        raise BadBudget(f"compile_lens has no limit {unknown[0]!r}. It has {', '.join(sorted(known))}.")
    for name, value in arguments.items():
        wanted = bool if name == "own_code_only" else (int, float)
        if not isinstance(value, wanted) or (name != "own_code_only" and isinstance(value, bool)):
            raise BadBudget(f"compile_lens({name}={value!r}): a {'bool' if wanted is bool else 'number'} is needed.")
    return Budget(**arguments)


def _is_in_own_code(finding: Finding) -> bool:
    """Whether it happened in the project's code rather than in an installed package that the code calls."""
    file = finding.call_path[-1].place.file if finding.call_path else finding.place.file
    return not LIBRARY.search(file)


def _of(outcome: Outcome, kind: Kind) -> list[Finding]:
    return [finding for finding in outcome.findings if finding.kind is kind]
