"""Reads what the scheduler decided: which operations became which kernel, and why two of them were not fused."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from compile_lens.stages.model import Kernel, NotFused, TextSource
from compile_lens.trace.records import UNREADABLE

NOTE = "compile_lens_fusion"
# of a graph inside of the graph, behind its name: ``true_graph_0_op1``
OPERATION = re.compile(r"\w{0,300}?(?<![a-z])(?:op|buf)\d+(?=_|\b)")
OF_INNER = re.compile(r"^(?P<graph>\w+)_op\d+$")


@dataclass(frozen=True, slots=True)
class ScheduledNode:
    """A node of the schedule after fusion. ``operations`` and ``buffers`` are those of its parts, ``origins`` their post-grad nodes.

    ``reads``, ``writes`` and ``avoided`` are bytes by buffer, as torch estimates them; the last are never in memory.
    """

    name: str
    operations: tuple[str, ...]
    buffers: frozenset[str]
    origins: tuple[str, ...]
    reads: Mapping[str, int]
    writes: Mapping[str, int]
    avoided: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Schedule:
    """The schedule of one graph. ``decisions`` are torch's: two of its names, and the reason."""

    nodes: tuple[ScheduledNode, ...] = ()
    decisions: tuple[tuple[str, str, str], ...] = ()


def operations_in(name: str) -> list[str]:
    """The operations that torch's name of a node of the schedule has: ``op1_op2``."""
    return [found.strip("_") for found in OPERATION.findall(name)]


def read_schedules(source: TextSource | None) -> tuple[Schedule, ...]:
    """The schedules that notes describe, one after the other: that of the graph, then those of graphs inside of it."""
    text = source.text() if source is not None else None
    found: list[Schedule] = []
    decoder = json.JSONDecoder()
    rest = (text or "").strip()
    try:
        while rest:
            note, end = decoder.raw_decode(rest)
            decisions = tuple((str(one), str(other), str(why)) for one, other, why in note["not_fused"])
            found.append(Schedule(tuple(_node(one) for one in note["nodes"]), decisions))
            rest = rest[end:].lstrip()
    except UNREADABLE:
        return tuple(found)
    return tuple(found)


def _node(note: Mapping[str, object]) -> ScheduledNode:
    parts = note["parts"]
    if not isinstance(parts, list):
        raise TypeError(parts)
    return ScheduledNode(
        name=str(note["name"]),
        operations=tuple(str(part["name"]) for part in parts),
        buffers=frozenset(str(name) for part in parts for name in part["buffers"]),
        # of a call of a library the node that it is; its other origins are views that it takes in
        origins=tuple(
            dict.fromkeys(
                str(name)
                for part in parts
                for name in ([part["origin"]] if "Extern" in str(note["type"]) and part["origin"] else part["origins"])
            )
        ),
        reads=_sizes(note["reads"]),
        writes=_sizes(note["writes"]),
        avoided=_sizes(note["avoided"]),
    )


def _sizes(value: object) -> Mapping[str, int]:
    return {str(name): int(size) for name, size in value.items()} if isinstance(value, dict) else {}


def nodes_of_kernels(
    schedules: Sequence[Schedule], calls: Sequence[frozenset[str]], origins: Sequence[frozenset[str]]
) -> list[tuple[ScheduledNode, ...]]:
    """The nodes that each call computes. ``calls`` are the buffers that each call passes on, in the order of the code; ``origins`` the
    post-grad nodes that torch has for it, none if it does not tell.

    A call that passes on a buffer of a graph inside of the graph is of that graph's schedule.
    """
    found: list[tuple[ScheduledNode, ...]] = [() for _ in calls]
    if not schedules:
        return found
    buffers = [frozenset().union(*(node.buffers for node in schedule.nodes)) for schedule in schedules]
    owners = [next((number for number in range(1, len(schedules)) if buffers[number] & passed), 0) for passed in calls]
    for number, schedule in enumerate(schedules):
        own = [index for index, owner in enumerate(owners) if owner == number]
        known = schedule if number else _without_inner(schedule, schedules[1:])
        of_own = _nodes_of_calls(known, [calls[index] for index in own], [origins[index] for index in own])
        for index, nodes in zip(own, of_own, strict=True):
            found[index] = nodes
    return found


def _without_inner(schedule: Schedule, inner: Sequence[Schedule]) -> Schedule:
    """``schedule`` without the nodes that call graphs inside of the graph: their kernels are in the schedules of those."""
    graphs = {
        found["graph"]
        for one in inner
        for node in one.nodes
        for operation in node.operations
        if (found := OF_INNER.match(operation))
    }
    return Schedule(tuple(node for node in schedule.nodes if not graphs.intersection(node.origins)), schedule.decisions)


def _nodes_of_calls(
    schedule: Schedule, calls: Sequence[frozenset[str]], origins: Sequence[frozenset[str]]
) -> list[tuple[ScheduledNode, ...]]:
    """The nodes of one schedule that each of its calls computes.

    Code is generated in the order of the schedule: a call computes the nodes that its buffers name, and those before them that are
    left. A node that no call names changes a buffer in place, or makes no call: it goes with the call that has its origins, else with
    the next.
    """
    at = 0
    named = frozenset().union(*calls)
    found: list[tuple[ScheduledNode, ...]] = []
    for buffers, told in zip(calls, origins, strict=True):
        matching = [index for index, node in enumerate(schedule.nodes[at:], at) if node.buffers & buffers]
        # the call of a later kernel may pass on a buffer that is not written before
        end = max(matching) + 1 if matching else at
        while (
            end < len(schedule.nodes) and schedule.nodes[end].origins and told.issuperset(schedule.nodes[end].origins)
        ):
            if schedule.nodes[end].buffers & named:
                break
            end += 1
        found.append(tuple(schedule.nodes[at:end]))
        at = end
    return found


def not_fused(schedules: Sequence[Schedule], kernels: Iterable[Kernel]) -> tuple[NotFused, ...]:
    """Why kernels that torch considered together are apart; the last reason for each pair."""
    owner = {name: kernel.call for kernel in kernels for name in kernel.operations}
    found: dict[tuple[str, str], str] = {}
    for one, other, reason in (decision for schedule in schedules for decision in schedule.decisions):
        calls = [{owner[part] for part in operations_in(name) if part in owner} for name in (one, other)]
        if len(calls[0]) == 1 and len(calls[1]) == 1 and calls[0] != calls[1]:
            found[calls[0].pop(), calls[1].pop()] = reason
    return tuple(NotFused(one, other, reason) for (one, other), reason in found.items())
