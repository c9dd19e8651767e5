"""A comparison as text for a terminal, JSON, and Markdown for a pull request."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

import msgspec
from rich.text import Text

from compile_lens.analysis.outcome_parts import CompiledFunction
from compile_lens.diff.comparison import AnalysisComparison, FindingChange, Located
from compile_lens.diff.compiled import CompiledChange
from compile_lens.shown_text import code_cell, code_span, github_cell
from compile_lens.wording import counted

STYLE = {"error": "bold red", "warning": "bold yellow", "information": "bold cyan", "hint": "bold green"}
VERSION = 1
MAX_KERNELS = 6


def to_text(comparison: AnalysisComparison) -> Text:
    """What is new, gone and changed, a line each, then the totals of both sides as a table."""
    page = Text(f"{comparison.before.name} → {comparison.after.name}\n", style="bold")
    for title, findings in (("New", comparison.new), ("Gone", comparison.gone)):
        if findings:
            page.append(f"\n{title}\n", style="bold")
        for one in findings:
            page.append(f"  {place_of(one)}: ")
            page.append(f"{one.severity}[{one.identity.code}]", style=STYLE.get(one.severity, ""))
            page.append(f" {one.identity.message}{times(one)}\n")
    if comparison.changed:
        page.append("\nChanged\n", style="bold")
    for change in comparison.changed:
        page.append(f"  {place_of(change.after)}: {what_changed(change)}\n")
    if comparison.compiled:
        page.append("\nCompiled code\n", style="bold")
    for compiled in comparison.compiled:
        page.append(f"  {_function(compiled)}: {what_compiled(compiled)}\n")
    if not (comparison.new or comparison.gone or comparison.changed):
        page.append("\nNo finding is new, gone or changed.\n", style="green")
    if comparison.same:
        page.append(f"\nUnchanged: {counted(comparison.same, 'finding')}.\n", style="dim")
    page.append("\n")
    for row in totals(comparison):
        arrow = "=" if row.before == row.after else "→"
        page.append(f"{row.name:<14}{row.before:>10} {arrow} {row.after}\n")
    page.rstrip()
    return page


def to_markdown(comparison: AnalysisComparison) -> str:
    """The same as a comment of a pull request: totals first, findings as tables."""
    rows = [f"**torch.compile**: {code_span(comparison.before.name)} → {code_span(comparison.after.name)}", ""]
    rows += ["| | before | after |", "|---|---:|---:|"]
    rows += [f"| {row.name} | {row.before} | {row.after} |" for row in totals(comparison)]
    for title, findings in (("New", comparison.new), ("Gone", comparison.gone)):
        if findings:
            rows += ["", f"**{title}**", "", "| where | what |", "|---|---|"]
            rows += [
                f"| {code_cell(place_of(one))} | {one.identity.code}: {github_cell(one.identity.message)}{times(one)} |"
                for one in findings
            ]
    if comparison.changed:
        rows += ["", "**Changed**", "", "| where | what |", "|---|---|"]
        rows += [
            f"| {code_cell(place_of(change.after))} | {github_cell(what_changed(change))} |"
            for change in comparison.changed
        ]
    if comparison.compiled:
        rows += ["", "**Compiled code**", "", "| where | what |", "|---|---|"]
        rows += [f"| {code_cell(_function(one))} | {github_cell(what_compiled(one))} |" for one in comparison.compiled]
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
        "compiled": [{"before": _compiled(one.before), "after": _compiled(one.after)} for one in comparison.compiled],
    }
    return json.dumps(document, indent=2)


def _compiled(one: CompiledFunction | None) -> dict[str, Any] | None:
    return None if one is None else msgspec.to_builtins(one)


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


@dataclass(frozen=True, slots=True)
class Total:
    """A row of the totals. ``trend`` is ``worse``, ``better`` or '': more of anything costs."""

    name: str
    before: str
    after: str
    trend: str


def totals(comparison: AnalysisComparison) -> list[Total]:
    """What both sides know."""
    before, after = comparison.before.totals, comparison.after.totals
    rows = [
        _total("graph breaks", before.breaks, after.breaks),
        _total("recompiles", before.recompiles, after.recompiles),
        _total("graphs", before.graphs, after.graphs),
    ]
    if before.kernels is not None and after.kernels is not None:
        rows.append(_total("kernels", before.kernels, after.kernels))
    if before.compile_time_s is not None and after.compile_time_s is not None:
        # no trend: the time of one run says little
        rows.append(Total("compile time", f"{before.compile_time_s:.2f} s", f"{after.compile_time_s:.2f} s", ""))
    return rows


def _total(name: str, before: int, after: int) -> Total:
    return Total(name, str(before), str(after), "worse" if after > before else "better" if after < before else "")


def what_compiled(change: CompiledChange) -> str:
    """How the compiled code of one function differs, in a phrase."""
    before, after = change.before, change.after
    if before is None or after is None:
        one = change.shown
        parts = [counted(one.graphs, "graph"), counted(one.ops, "op")]
        parts += [counted(len(one.kernels), "kernel")] if one.kernels else []
        return f"{'newly compiled' if before is None else 'no longer compiled'} ({', '.join(parts)})"
    pairs = (
        (before.graphs, after.graphs, "graph"),
        (before.ops, after.ops, "op"),
        (len(before.kernels), len(after.kernels), "kernel"),
    )
    parts = [f"{old} → {counted(now, noun)}" for old, now, noun in pairs if old != now]
    if change.new_kernels:
        parts.append(f"new: {_listed(change.new_kernels)}")
    if change.gone_kernels:
        parts.append(f"gone: {_listed(change.gone_kernels)}")
    return "; ".join(parts)


def _listed(names: tuple[str, ...]) -> str:
    shown = [f"`{name}`" for name in names[:MAX_KERNELS]]
    return ", ".join(shown) + (f" and {len(names) - MAX_KERNELS} more" if len(names) > MAX_KERNELS else "")


def what_changed(change: FindingChange) -> str:
    """The finding, and how it differs from the earlier one."""
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


def _function(change: CompiledChange) -> str:
    return f"{change.shown.file}:{change.shown.line} {change.shown.name}"


def place_of(one: Located) -> str:
    """Where a finding is."""
    return f"{one.identity.file}:{one.line}"


def times(one: Located) -> str:
    """How often it happened, in parentheses, where the message does not say it."""
    return f" ({one.count} times)" if one.count > 1 and one.identity.kind != "recompile" else ""
