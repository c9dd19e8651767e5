"""A comparison as text for a terminal, JSON, and Markdown for a pull request."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from rich.text import Text

from compile_lens.diff.comparison import AnalysisComparison, FindingChange, Located
from compile_lens.shown_text import code_cell, code_span, text_cell
from compile_lens.wording import counted

STYLE = {"error": "bold red", "warning": "bold yellow", "information": "bold cyan", "hint": "bold green"}
VERSION = 1


def to_text(comparison: AnalysisComparison) -> Text:
    """What is new, gone and changed, a line each, then the totals of both sides as a table."""
    page = Text(f"{comparison.before.name} → {comparison.after.name}\n", style="bold")
    for title, findings in (("New", comparison.new), ("Gone", comparison.gone)):
        if findings:
            page.append(f"\n{title}\n", style="bold")
        for one in findings:
            page.append(f"  {_place(one)}: ")
            page.append(f"{one.severity}[{one.identity.code}]", style=STYLE.get(one.severity, ""))
            page.append(f" {one.identity.message}{_times(one)}\n")
    if comparison.changed:
        page.append("\nChanged\n", style="bold")
    for change in comparison.changed:
        page.append(f"  {_place(change.after)}: {_what_changed(change)}\n")
    if not (comparison.new or comparison.gone or comparison.changed):
        page.append("\nNo finding is new, gone or changed.\n", style="green")
    if comparison.same:
        page.append(f"\nUnchanged: {counted(comparison.same, 'finding')}.\n", style="dim")
    page.append("\n")
    for name, before, after in _totals(comparison):
        arrow = "=" if before == after else "→"
        page.append(f"{name:<14}{before:>10} {arrow} {after}\n")
    page.rstrip()
    return page


def to_markdown(comparison: AnalysisComparison) -> str:
    """The same as a comment of a pull request: totals first, findings as tables."""
    rows = [f"**torch.compile**: {code_span(comparison.before.name)} → {code_span(comparison.after.name)}", ""]
    rows += ["| | before | after |", "|---|---:|---:|"]
    rows += [f"| {name} | {before} | {after} |" for name, before, after in _totals(comparison)]
    for title, findings in (("New", comparison.new), ("Gone", comparison.gone)):
        if findings:
            rows += ["", f"**{title}**", "", "| where | what |", "|---|---|"]
            rows += [
                f"| {code_cell(_place(one))} | {one.identity.code}: {text_cell(one.identity.message)}{_times(one)} |"
                for one in findings
            ]
    if comparison.changed:
        rows += ["", "**Changed**", "", "| where | what |", "|---|---|"]
        rows += [
            f"| {code_cell(_place(change.after))} | {text_cell(_what_changed(change))} |"
            for change in comparison.changed
        ]
    if not (comparison.new or comparison.gone or comparison.changed):
        rows += ["", "No finding is new, gone or changed."]
    return "\n".join(rows)


def to_json(comparison: AnalysisComparison) -> str:
    """The comparison as docs/ci.md describes it."""
    document = {
        "version": VERSION,
        "before": {"name": comparison.before.name, **asdict(comparison.before.totals)},
        "after": {"name": comparison.after.name, **asdict(comparison.after.totals)},
        "new": [_row(one) for one in comparison.new],
        "gone": [_row(one) for one in comparison.gone],
        "changed": [{"before": _row(one.before), "after": _row(one.after)} for one in comparison.changed],
        "same": comparison.same,
    }
    return json.dumps(document, indent=2)


def _row(one: Located) -> dict[str, Any]:
    identity = one.identity
    return {
        "file": identity.file,
        "line": one.line,
        "kind": identity.kind,
        "code": identity.code,
        "severity": one.severity,
        "message": identity.message,
        "count": one.count,
        "function": identity.function,
        "source": identity.text,
    }


def _totals(comparison: AnalysisComparison) -> list[tuple[str, str, str]]:
    before, after = comparison.before.totals, comparison.after.totals
    rows = [
        ("graph breaks", str(before.breaks), str(after.breaks)),
        ("recompiles", str(before.recompiles), str(after.recompiles)),
        ("graphs", str(before.graphs), str(after.graphs)),
    ]
    if before.compile_time_s is not None and after.compile_time_s is not None:
        rows.append(("compile time", f"{before.compile_time_s:.2f} s", f"{after.compile_time_s:.2f} s"))
    return rows


def _what_changed(change: FindingChange) -> str:
    before, after = change.before, change.after
    parts = []
    if before.identity.file != after.identity.file:
        parts.append(f"was in {before.identity.file}")
    if before.identity.function != after.identity.function:
        parts.append(f"was in `{before.identity.function or '<module>'}`")
    if before.count != after.count:
        parts.append(f"{before.count} → {counted(after.count, 'time')}")
    if before.severity != after.severity:
        parts.append(f"{before.severity} → {after.severity}")
    if before.identity.message != after.identity.message:
        parts.append(f"was: {before.identity.message}")
    if not parts:
        parts.append(f"its line was edited (was: {before.identity.text})")
    return f"{after.identity.code}: {after.identity.message} ({'; '.join(parts)})"


def _place(one: Located) -> str:
    return f"{one.identity.file}:{one.line}"


def _times(one: Located) -> str:
    return f" ({one.count} times)" if one.count > 1 and one.identity.kind != "recompile" else ""
