"""How long torch took for what it did to each graph: its timed events, by the graph that they belong to.

An event names its frame and no more. The records of a graph begin with its first document, so what begins after that is its own, until the
next graph of the frame begins; so is what begins before it and ends after it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from compile_lens.stages.model import StageKind
from compile_lens.stages.timeline import frame_of_event, read_event
from compile_lens.trace.records import UNUSED, TraceBytes, iterate

EVENT = "chromium_event"
# the event in which a document is made (torch 2.6 to 2.15)
MAKES = {
    StageKind.DYNAMO: "bytecode_tracing",
    StageKind.GUARDS: "build_guards",
    StageKind.PRE_GRAD: "_recursive_pre_grad_passes",
    StageKind.JOINT: "aot_trace_joint_graph",
    StageKind.POST_GRAD: "_recursive_post_grad_passes",
    StageKind.IR_PRE_FUSION: "GraphLowering.run",
    StageKind.IR_POST_FUSION: "Scheduler.__init__",
    StageKind.OUTPUT_CODE: "Scheduler.codegen",
    StageKind.KERNEL: "PyCodeCache.load_by_key_path",
}


@dataclass(frozen=True, slots=True)
class GraphEvent:
    """One event. ``inside`` are the names of the events around it, the outermost first."""

    name: str
    seconds: float
    at: int
    end: int
    inside: tuple[str, ...]


class TraceEvents:
    """The events of a trace, which are read when they are first asked for. Without a trace there are none."""

    def __init__(self, trace: TraceBytes | None) -> None:
        self._trace = trace
        self._starts: dict[str, list[int]] = defaultdict(list)

    def graph_begins(self, compile_id: str, at: int) -> None:
        """A graph of a frame has its first record at this place of the trace."""
        self._starts[compile_id].append(at)

    def of_graph(self, compile_id: str, at: int) -> tuple[GraphEvent, ...]:
        """The events of the graph that begins at this place, by their begin. What comes before the first graph of a frame is of that."""
        starts = sorted(self._starts[compile_id])
        number = starts.index(at)
        return tuple(event for event in self._by_frame.get(compile_id, ()) if _owner(event, starts) == number)

    @cached_property
    def _by_frame(self) -> Mapping[str, list[GraphEvent]]:
        found: dict[str, list[GraphEvent]] = defaultdict(list)
        begun: dict[str, list[tuple[str, float, int]]] = defaultdict(list)
        for record in iterate(self._trace, UNUSED - {EVENT.encode()}) if self._trace is not None else ():
            if record is None or record.kind != EVENT or record.payload is None:
                continue
            event = read_event(record)
            if event is None:
                continue
            name, kind, at, arguments = event
            open_events = begun[frame_of_event(arguments, record)]
            if kind == "B":
                open_events.append((name, at, record.payload.start))
            elif kind == "E":
                number = next((i for i in reversed(range(len(open_events))) if open_events[i][0] == name), None)
                if number is not None:
                    _, start, place = open_events.pop(number)
                    around = tuple(outer for outer, _, _ in open_events[:number])
                    compile_id = frame_of_event(arguments, record)
                    found[compile_id].append(
                        GraphEvent(name, max(at - start, 0.0), place, record.payload.start, around)
                    )
        return {compile_id: sorted(events, key=lambda event: event.at) for compile_id, events in found.items()}


def _owner(event: GraphEvent, starts: list[int]) -> int:
    number = bisect_left(starts, event.at)
    is_around = number < len(starts) and starts[number] <= event.end
    return number if is_around else max(number - 1, 0)


def times_of(events: Iterable[GraphEvent]) -> Mapping[str, float]:
    """Seconds by name; an event inside of one of the same name is a part of that."""
    found: dict[str, float] = defaultdict(float)
    for event in events:
        if event.name not in event.inside:
            found[event.name] += event.seconds
    return dict(found)
