"""Reads which passes went over a graph, how long each took, and what it changed.

A run of Compile Lens notes all of it (``compile_lens_…_passes``). A trace from elsewhere has the graph before and after a phase, the time
of the phase, and from torch 2.11 on the time of each pass (``pass.*`` events, torch/fx/passes/graph_transform_observer.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from compile_lens.stages.documents import LANGUAGES
from compile_lens.stages.events import GraphEvent, times_of
from compile_lens.stages.graph_changes import GraphChanges, changes_between
from compile_lens.stages.model import GraphPass, PassPhase, PhaseKind, Stage, StageKind, TextSource
from compile_lens.trace.records import UNREADABLE, Payload, read_json

SIDES = ("before", "after")
EVENTS = {
    PhaseKind.PRE_GRAD: "_recursive_pre_grad_passes",
    PhaseKind.JOINT: "_recursive_joint_graph_passes",
    PhaseKind.POST_GRAD: "_recursive_post_grad_passes",
}
PHASE_TITLES = {
    PhaseKind.PRE_GRAD: "Pre-grad passes",
    PhaseKind.JOINT: "Joint passes",
    PhaseKind.POST_GRAD: "Post-grad passes",
}
# an event of one pass: with the subsystem that torch's bisector knows it by, or without
PASS = re.compile(r"^pass\.(?:(?:pre_grad|joint_graph|post_grad)_passes\.)?(?P<name>.+)$")
BETWEEN = "between passes"
UNSAFE = re.compile(r"[^\w-]+")


def name_of(one: GraphPass) -> str:
    """``post_grad.remove_noop_ops``, as ``--pass`` takes it."""
    return f"{one.phase.value}.{one.name or BETWEEN.replace(' ', '_')}"


def changes_of(one: GraphPass | PassPhase) -> GraphChanges | None:
    """What it changed; None if the graph before or after it was not kept."""
    before = one.before.text() if one.before is not None else None
    after = one.after.text() if one.after is not None else None
    return changes_between(before, after) if before is not None and after is not None else None


@dataclass(frozen=True, slots=True)
class ChangesText:
    """The diff of a pass or of a phase as a document."""

    of: GraphPass | PassPhase

    def text(self) -> str | None:
        """The diff, or None if a graph is lost."""
        changes = changes_of(self.of)
        return changes.text if changes is not None else None


@dataclass(eq=False)
class GraphPasses:
    """What is told of the passes over one graph, read when it is asked for.

    ``notes`` are those of a run of ours, ``around`` the graph before and after a phase, where the trace has it.
    """

    graph: str
    notes: Sequence[Payload]
    around: Mapping[PhaseKind, tuple[TextSource, TextSource]]
    read_events: Callable[[], Sequence[GraphEvent]]
    _texts: list[tuple[Payload, Sequence[str]]] = field(default_factory=list)

    def times(self) -> Mapping[str, float]:
        """Seconds of each of torch's events of the graph."""
        return times_of(self._events)

    def phases(self) -> tuple[PassPhase, ...]:
        """The phases that the trace says anything about."""
        return self._phases

    def stages(self) -> tuple[Stage, ...]:
        """A document for each phase that changed the graph, and for each pass of it that did."""
        return tuple(self._stages())

    @cached_property
    def _events(self) -> Sequence[GraphEvent]:
        return self.read_events()

    @cached_property
    def _phases(self) -> tuple[PassPhase, ...]:
        return tuple(phase for kind in PhaseKind if (phase := self._phase(kind)) is not None)

    def _phase(self, kind: PhaseKind) -> PassPhase | None:
        noted = [(payload, note) for payload, note in self._noted if note["phase"] == kind.value]
        before, after = self.around.get(kind, (None, None))
        if noted:
            passes = tuple(_without_repeats(self._passes(kind, noted)))
            seconds: float | None = sum(note["seconds"] for _, note in noted)
            if before is None and len(noted) == 1:
                of_graph = [one for one in passes if not one.inner and one.after is not None]
                before, after = (of_graph[0].before, of_graph[-1].after) if of_graph else (None, None)
        else:
            own = [event for event in self._events if EVENTS[kind] in event.inside]
            passes = tuple(
                GraphPass(kind, found["name"], number, event.seconds)
                for number, event in enumerate(own)
                if (found := PASS.match(event.name))
            )
            seconds = times_of(self._events).get(EVENTS[kind])
            if seconds is None and before is None:
                return None
        return PassPhase(kind, passes, seconds, before, after)

    @cached_property
    def _noted(self) -> list[tuple[Payload, dict[str, Any]]]:
        """The notes without their graphs."""
        read = ((payload, _read_note(payload.text())) for payload in self.notes)
        return [(payload, note) for payload, note in read if note is not None]

    def _passes(self, kind: PhaseKind, noted: Sequence[tuple[Payload, Mapping[str, Any]]]) -> Iterator[GraphPass]:
        number = 0
        for payload, note in noted:
            for one in note["passes"]:
                before, after = (_PassText(self, payload, one[side]) if side in one else None for side in SIDES)
                yield GraphPass(
                    kind, one["name"], number, one["seconds"], one["changed"], one["graph"], one["depth"], before, after
                )
                number += 1

    def text_of(self, note: Payload, number: int) -> str | None:
        """A graph of a note. The graphs of one note at a time are in memory."""
        if not self._texts or self._texts[0][0] is not note:
            given = read_json(note.text())
            graphs = given.get("graphs") if isinstance(given, dict) else None
            self._texts = [(note, [str(graph) for graph in graphs] if isinstance(graphs, list) else [])]
        known = self._texts[0][1]
        return known[number] if 0 <= number < len(known) else None

    def _stages(self) -> Iterator[Stage]:
        for phase in self._phases:
            changes = changes_of(phase)
            if changes is not None and not changes.is_empty:
                yield pass_stage(self.graph, phase)
            yield from (pass_stage(self.graph, one) for one in phase.passes if one.depth == 0 and one.after is not None)


def pass_stage(graph: str, of: GraphPass | PassPhase) -> Stage:
    """The document of what a pass or a phase changed in ``graph``."""
    if isinstance(of, PassPhase):
        name, title = of.kind.value, f"{PHASE_TITLES[of.kind]}: all changes"
    else:
        inner = f" in {of.inner}" if of.inner else ""
        name = f"{of.phase.value}.{of.number:02}.{UNSAFE.sub('_', of.name or BETWEEN)}"
        title = f"{PHASE_TITLES[of.phase]}: {of.name or BETWEEN}{inner}"
    return Stage(
        f"{graph}/{StageKind.PASS.value}/{name}",
        StageKind.PASS,
        graph,
        title,
        LANGUAGES[StageKind.PASS],
        ChangesText(of),
    )


@dataclass(frozen=True, slots=True)
class _PassText:
    """A graph before or after a pass."""

    of: GraphPasses
    note: Payload
    number: int

    def text(self) -> str | None:
        return self.of.text_of(self.note, self.number)


def _read_note(text: str | None) -> dict[str, Any] | None:
    """A note without its graphs; None if a program wrote it itself, or it is damaged."""
    try:
        note = read_json(text)
        passes = [
            {
                "name": str(one["name"]),
                "seconds": float(one["seconds"]),
                "changed": bool(one["changed"]),
                "graph": str(one["graph"]),
                "depth": int(one["depth"]),
                **{side: int(one[side]) for side in SIDES if side in one},
            }
            for one in note["passes"]
        ]
        return {"phase": str(note["phase"]), "seconds": float(note["seconds"]), "passes": passes}
    except UNREADABLE:
        return None


def _without_repeats(passes: Iterator[GraphPass]) -> Iterator[GraphPass]:
    """``passes`` without the only part of another: a pass of patterns is observed twice, by who calls it and by the matcher."""
    known = list(passes)
    for number, one in enumerate(known):
        is_first = one.depth > 0 and known[number - 1].depth == one.depth - 1
        is_last = number + 1 == len(known) or known[number + 1].depth < one.depth
        if not (is_first and is_last):
            yield one
