"""Reads what the scheduler decided: which operations became which kernel, and why two of them were not fused."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from compile_lens.stages.model import Kernel, NotFused, TextSource

NOTE = "compile_lens_fusion"
OPERATION = re.compile(r"op\d+|(?<![a-z])buf\d+")


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


NO_SCHEDULE = Schedule()


def read_schedule(source: TextSource | None) -> Schedule:
    """The schedule that a note describes; an empty one without a note."""
    text = source.text() if source is not None else None
    if not text:
        return NO_SCHEDULE
    try:
        note = json.loads(text)
        nodes = tuple(_node(one) for one in note["nodes"])
        return Schedule(nodes, tuple((str(one), str(other), str(why)) for one, other, why in note["not_fused"]))
    except (ValueError, LookupError, TypeError):
        return NO_SCHEDULE


def _node(note: Mapping[str, object]) -> ScheduledNode:
    parts = note["parts"]
    assert isinstance(parts, list)
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
    schedule: Schedule, calls: Sequence[frozenset[str]], origins: Sequence[frozenset[str]]
) -> list[tuple[ScheduledNode, ...]]:
    """The nodes that each call computes. ``calls`` are the buffers that each call passes on, in the order of the code; ``origins`` the
    post-grad nodes that torch has for it, none if it does not tell.

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


def not_fused(schedule: Schedule, kernels: Iterable[Kernel]) -> tuple[NotFused, ...]:
    """Why kernels that torch considered together are apart; the last reason for each pair."""
    owner = {name: kernel.call for kernel in kernels for name in kernel.operations}
    found: dict[tuple[str, str], str] = {}
    for one, other, reason in schedule.decisions:
        calls = [{owner[part] for part in OPERATION.findall(name) if part in owner} for name in (one, other)]
        if len(calls[0]) == 1 and len(calls[1]) == 1 and calls[0] != calls[1]:
            found[calls[0].pop(), calls[1].pop()] = reason
    return tuple(NotFused(one, other, reason) for (one, other), reason in found.items())
