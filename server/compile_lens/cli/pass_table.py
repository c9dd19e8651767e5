"""The passes over a graph in a terminal: a table with the time of each and how many nodes it changed, and the diff of one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import click
from rich.table import Table
from rich.text import Text

from compile_lens.formats.pass_words import NO_CHANGE, changes_text, is_changed, time_text
from compile_lens.stages.model import Graph, GraphPass, PassPhase
from compile_lens.stages.passes import BETWEEN, changes_of, name_of


def table_of(graph: Graph, verbose: bool) -> Table | None:
    """The phases of a graph, each with the passes that changed it; all passes if ``verbose``. None if the trace tells of none."""
    if not any(phase.passes or phase.seconds is not None for phase in graph.phases):
        return None
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 2))
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True, style="dim")
    table.add_column()
    for phase in graph.phases:
        table.add_row(f"{phase.kind.value} passes", time_text(phase.seconds), changes_text(phase))
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
            yield name, time_text(one.seconds), changes_text(one)
    known = [one.seconds for one in others if one.seconds is not None]
    if others:
        noun = "pass" if len(others) == 1 else "passes"
        what = NO_CHANGE if all(one.is_changed is False for one in others) else ""
        are_all = len(others) == sum(one.depth == 0 for one in phase.passes)
        yield (
            Text(f"  {len(others)} {'' if are_all else 'other '}{noun}"),
            time_text(sum(known)),
            what,
        )


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
        has_changed = is_changed(of)
        if has_changed is None:
            return f"{name} of {graph.id}: the trace does not have the graph before and after it."
        if has_changed:
            return f"{name} of {graph.id} changed the graph, which is too large to be kept."
    return "" if changes is not None and not changes.is_empty else f"{name} changed nothing in {graph.id}."
