"""A comparison of stages as text for a terminal, JSON, and a page of HTML: a summary, then each graph with the lines that changed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

from rich.text import Text

from compile_lens.diff.stage_comparison import GraphChange, GraphFigures, Hunk, StageChange, StageComparison
from compile_lens.formats.templates import page
from compile_lens.shown_text import visible
from compile_lens.stages.figures import bytes_text
from compile_lens.stages.model import Graph
from compile_lens.wording import and_more, counted

VERSION = 1
STYLE = {"-": "red", "+": "green"}
MAX_KERNELS = 6
# of a stage in a terminal; the rest is in JSON and HTML
MAX_LINES = 60


def summary(before: GraphFigures, after: GraphFigures) -> str:
    """``3 → 2 kernels, 1.5 MB less traffic``; what is the same is said once."""
    parts = [_change(before.kernels, after.kernels, "kernel")]
    if before.library_calls or after.library_calls:
        parts.append(_change(before.library_calls, after.library_calls, "library call"))
    if before.traffic is not None and after.traffic is not None:
        difference = after.traffic - before.traffic
        more = "more" if difference > 0 else "less"
        parts.append(f"{bytes_text(abs(difference))} {more} traffic" if difference else "the same traffic")
    return ", ".join(parts)


def to_text(comparison: StageComparison, brief: bool = False) -> Text:
    """The summary, then what changed of each graph; ``brief``: the kernels alone, without lines of code."""
    text = Text(f"{comparison.before} → {comparison.after}\n", style="bold")
    text.append(f"{summary(*comparison.figures)}\n")
    if not comparison.is_changed:
        text.append("\nNo stage differs.", style="green")
        return text
    for change in comparison.graphs:
        if change.is_changed:
            text.append(f"\n{_title(change)}", style="bold")
            text.append(f": {graph_change(change)}\n")
            for stage in () if brief else change.stages:
                _append_stage(text, stage)
    same = sum(not change.is_changed for change in comparison.graphs)
    if same:
        text.append(f"\nUnchanged: {counted(same, 'graph')}.", style="dim")
    text.rstrip()
    return text


def to_json(comparison: StageComparison) -> str:
    """The comparison as docs/json.md describes it."""
    before, after = comparison.figures
    document = {
        "version": VERSION,
        "before": {"name": comparison.before, **_figures(before)},
        "after": {"name": comparison.after, **_figures(after)},
        "summary": summary(before, after),
        "graphs": [_row(change) for change in comparison.graphs],
    }
    return json.dumps(document, indent=2)


def to_html(comparison: StageComparison) -> str:
    """The comparison as a page that needs nothing else."""
    text = page(
        "stage_comparison",
        before=comparison.before,
        after=comparison.after,
        summary=summary(*comparison.figures),
        graphs=[
            {
                "title": _title(change),
                "what": graph_change(change),
                "stages": [
                    {
                        "title": _stage_title(stage),
                        "what": stage_change(stage),
                        "hunks": [
                            {
                                "before": hunk.before,
                                "after": hunk.after,
                                "lines": [(_kind(line.sign), line.text) for line in hunk.lines],
                            }
                            for hunk in stage.hunks
                        ],
                    }
                    for stage in change.stages
                    if stage.is_changed
                ],
            }
            for change in comparison.graphs
            if change.is_changed
        ],
        same=counted(sum(not change.is_changed for change in comparison.graphs), "graph"),
        is_changed=comparison.is_changed,
    )
    return visible(text)


def _kind(sign: str) -> str:
    return {"-": "gone", "+": "new"}.get(sign, "")


def _change(before: int, after: int, noun: str) -> str:
    return counted(after, noun) if before == after else f"{before} → {counted(after, noun)}"


def _title(change: GraphChange) -> str:
    graph = change.shown
    return f"{graph.function or graph.id} [{graph.compile_id}] {graph.direction.value.replace('_', ' ')}"


def graph_change(change: GraphChange) -> str:
    """``3 → 2 kernels, 1.5 MB less traffic; new: …``: what changed of a graph."""
    if change.before is None:
        return "only in the second"
    if change.after is None:
        return "only in the first"
    parts = [summary(*change.figures)]
    for names, verb in ((change.new_kernels, "new"), (change.gone_kernels, "gone")):
        if names:
            parts.append(f"{verb}: {_listed(names)}")
    return "; ".join(parts)


def _listed(names: Iterable[str]) -> str:
    counts = Counter(names)
    shown = [f"`{name}`{f' ×{count}' if count > 1 else ''}" for name, count in list(counts.items())[:MAX_KERNELS]]
    return ", ".join(shown) + and_more(len(counts) - MAX_KERNELS)


def _stage_title(change: StageChange) -> str:
    stage = change.after or change.before
    assert stage is not None
    return stage.title


def stage_change(change: StageChange) -> str:
    """``2 lines added, 1 removed``: what changed of a stage."""
    if change.before is None:
        return "only in the second"
    if change.after is None:
        return "only in the first"
    if change.only_names:
        return "the same operations on other values"
    return f"{counted(change.count('+'), 'line')} added, {change.count('-')} removed"


def _append_stage(text: Text, change: StageChange) -> None:
    if not change.is_changed:
        return
    text.append(f"  {_stage_title(change)}", style="bold")
    text.append(f": {stage_change(change)}\n")
    left = MAX_LINES
    for hunk in change.hunks:
        if left <= 0:
            break
        text.append(f"    @@ {hunk.before} → {hunk.after} @@\n", style="cyan")
        for line in hunk.lines[:left]:
            text.append(f"    {line.sign} {visible(line.text)}\n", style=STYLE.get(line.sign, "dim"))
        left -= len(hunk.lines)
    hidden = sum(len(hunk.lines) for hunk in change.hunks) - MAX_LINES
    if hidden > 0:
        text.append(f"    … {counted(hidden, 'line')} more; `--format json` and `--html` have them\n", style="dim")


def _figures(figures: GraphFigures) -> dict[str, Any]:
    return {"kernels": figures.kernels, "library_calls": figures.library_calls, "traffic": figures.traffic}


def _row(change: GraphChange) -> dict[str, Any]:
    before, after = change.figures
    return {
        "function": change.shown.function,
        "direction": change.shown.direction.value,
        "before": _side(change.before, before),
        "after": _side(change.after, after),
        "new_kernels": list(change.new_kernels),
        "gone_kernels": list(change.gone_kernels),
        "stages": [_stage_row(stage) for stage in change.stages],
    }


def _side(graph: Graph | None, figures: GraphFigures) -> dict[str, Any] | None:
    return None if graph is None else {"id": graph.id, "compile_id": graph.compile_id, **_figures(figures)}


def _stage_row(change: StageChange) -> dict[str, Any]:
    return {
        "stage": change.kind.value,
        "before": change.before.id if change.before is not None else None,
        "after": change.after.id if change.after is not None else None,
        "changed": change.is_changed,
        "only_names": change.only_names,
        "hunks": [_hunk_row(hunk) for hunk in change.hunks],
    }


def _hunk_row(hunk: Hunk) -> dict[str, Any]:
    return {"before": hunk.before, "after": hunk.after, "lines": [f"{line.sign}{line.text}" for line in hunk.lines]}
