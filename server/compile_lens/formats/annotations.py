"""GitHub's workflow commands: findings as annotations of a pull request, from the log of any step.

https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
"""

from __future__ import annotations

from compile_lens.analysis.finding import Finding, Severity
from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.diff.identity import relative

COMMANDS = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFORMATION: "notice",
    Severity.HINT: "notice",
}


def to_annotations(outcomes: list[Outcome], root: str) -> str:
    """One command a finding, and one for each file that could not be analyzed; paths are relative to ``root``."""
    lines = []
    for outcome in outcomes:
        lines += [_annotation(finding, root) for finding in outcome.findings]
        if outcome.status is Status.FAILED:
            lines.append(f"::error file={_property(relative(outcome.file, root))}::{_data(outcome.failure)}")
    return "\n".join(lines)


def _annotation(finding: Finding, root: str) -> str:
    place = finding.place
    where = {
        "file": relative(place.file, root),
        "line": place.line,
        "endLine": place.end_line,
        "title": f"{finding.kind.row.title} ({finding.code})",
    }
    if place.line == place.end_line:  # GitHub takes columns only where both lines are the same
        where |= {"col": place.column, "endColumn": place.end_column}
    properties = ",".join(f"{name}={_property(str(value))}" for name, value in where.items())
    text = "\n".join([finding.message, *(f"Hint: {hint}" for hint in finding.hints)])
    return f"::{COMMANDS[finding.severity]} {properties}::{_data(text)}"


def _data(text: str) -> str:
    """As @actions/core escapes it: a line break would end the command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
