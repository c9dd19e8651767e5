"""The passes over a graph in a terminal: a table with the time of each and how many nodes it changed, and the diff of one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import click
from rich.table import Table
from rich.text import Text

from compile_lens.stages.figures import seconds_text
from compile_lens.stages.graph_changes import GraphChanges
from compile_lens.stages.model import Graph, GraphPass, PassPhase
from compile_lens.stages.passes import BETWEEN, changes_of, name_of
from compile_lens.wording import counted

NO_CHANGE = "nothing changed"
NOT_KNOWN = "changed; the graphs are too large to be kept"


def table_of(graph: Graph, verbose: bool) -> Table | None:
    """The phases of a graph, each with the passes that changed it; all passes if ``verbose``. None if the trace tells of none."""
    if not any(phase.passes or phase.seconds is not None for phase in graph.phases):
        return None
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 2))
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True, style="dim")
    table.add_column()
    for phase in graph.phases:
        table.add_row(
            f"{phase.kind.value} passes", _seconds(phase.seconds), _words(changes_of(phase), _is_changed(phase))
        )
        for row in _rows(phase, verbose):
            table.add_row(*row)
    return table


def _rows(phase: PassPhase, verbose: bool) -> Iterator[tuple[Text, str, str]]:
    others: list[GraphPass] = []
    for one in phase.passes:
        if not verbose and not one.is_changed:
            others += [one] if one.depth == 0 else []
        elif verbose or one.depth == 0:
            name = Text(f"{'  ' * (one.depth + 1)}{one.name or BETWEEN}")
            if one.inner:
                name.append(f" in {one.inner}", style="dim")
            yield name, _seconds(one.seconds), _words(changes_of(one), one.is_changed)
    known = [one.seconds for one in others if one.seconds is not None]
    if others:
        noun = "pass" if len(others) == 1 else "passes"
        what = NO_CHANGE if all(one.is_changed is False for one in others) else ""
        are_all = len(others) == sum(one.depth == 0 for one in phase.passes)
        yield (
            Text(f"  {len(others)} {'' if are_all else 'other '}{noun}"),
            _seconds(sum(known)),
            what,
        )


def _is_changed(phase: PassPhase) -> bool | None:
    """What its passes tell, where the graph around them was not kept."""
    told = [one.is_changed for one in phase.passes]
    return any(told) if told and None not in told else None


def _seconds(seconds: float | None) -> str:
    return seconds_text(seconds) if seconds is not None else ""


def _words(changes: GraphChanges | None, is_changed: bool | None) -> str:
    """``2 nodes removed, 1 changed``."""
    if changes is None:
        return "" if is_changed is None else NOT_KNOWN if is_changed else NO_CHANGE
    if changes.is_empty:
        return NO_CHANGE
    parts: list[str] = []
    for names, verb in ((changes.removed, "removed"), (changes.added, "added"), (changes.changed, "changed")):
        if names:
            parts.append(f"{len(names) if parts else counted(len(names), 'node')} {verb}")
    if changes.is_reordered:
        parts.append("nodes reordered")
    return ", ".join(parts) or "only what it takes or returns changed"


def chosen_passes(graphs: Sequence[Graph], name: str) -> list[tuple[Graph, GraphPass | PassPhase]]:
    """The passes that ``--pass`` names, or the phases. Raises click.ClickException if there is none of that name."""
    found = [(graph, of) for graph in graphs for of in _named(graph.phases, name)]
    if not found and graphs:
        known = dict.fromkeys(word for graph in graphs for phase in graph.phases for word in _changing(phase))
        raise click.ClickException(f"There is no pass {name}. These changed a graph: {', '.join(known) or 'none'}.")
    return found


def _named(phases: Iterable[PassPhase], name: str) -> Iterator[GraphPass | PassPhase]:
    for phase in phases:
        if phase.kind.value == name:
            yield phase
        yield from (one for one in phase.passes if one.depth == 0 and name in (one.name, name_of(one)))


def _changing(phase: PassPhase) -> Iterator[str]:
    changes = changes_of(phase)
    if changes is not None and not changes.is_empty:
        yield phase.kind.value
    yield from (name_of(one) for one in phase.passes if one.is_changed and one.depth == 0)


def no_diff_of(of: GraphPass | PassPhase, graph: Graph) -> str:
    """Why there is no diff, as a sentence; '' if there is one."""
    changes = changes_of(of)
    name = name_of(of) if isinstance(of, GraphPass) else f"{of.kind.value} passes"
    if changes is None:
        is_changed = of.is_changed if isinstance(of, GraphPass) else _is_changed(of)
        if is_changed is None:
            return f"{name} of {graph.id}: the trace does not have the graph before and after it."
        if is_changed:
            return f"{name} of {graph.id} changed the graph, which is too large to be kept."
    return "" if changes is not None and not changes.is_empty else f"{name} changed nothing in {graph.id}."
