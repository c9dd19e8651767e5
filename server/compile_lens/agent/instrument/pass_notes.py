"""Notes how long each pass over a graph took, and what it changed, in a run whose stages are to be shown.

Inductor runs its passes in three phases (``_recursive_…_passes`` in torch/_inductor/compile_fx.py), each pass inside of a
``GraphTransformObserver`` (torch 2.6 to 2.15). What a phase changes outside of them is noted as a pass without a name.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from ..runtime.degraded import degraded
from ..torch_internals.core import PASS_OBSERVER_ENTER, PASS_OBSERVER_EXIT
from ..torch_internals.inductor import JOINT_PASSES, POST_GRAD_PASSES, PRE_GRAD_PASSES
from .import_hook import change_at_import
from .trace_sink import write_note

PHASES = {"pre_grad": PRE_GRAD_PASSES, "joint": JOINT_PASSES, "post_grad": POST_GRAD_PASSES}
LOST = "what passes changed"
# of all graphs of a phase, in characters
MAX_TEXT = 1 << 22


def install() -> None:
    """Write a note for each phase of the graphs that are compiled from now on."""
    change_at_import({"torch._inductor.compile_fx": _PassNotes().wrap})


@dataclass
class _Pass:
    """One pass, as the note has it. ``before`` and ``after`` are numbers of texts; None if nothing changed, or the texts are too long."""

    name: str
    graph: str
    depth: int
    seconds: float = 0.0
    changed: bool = False
    before: int | None = None
    after: int | None = None


@dataclass
class _Watched:
    """A graph that passes go over; ``name`` is '' for the outermost. ``state`` and ``text`` are what was seen of it last, the second as the
    number of its text."""

    module: Any
    name: str
    state: list[tuple[Any, ...]]
    text: int | None
    ended: float = 0.0


@dataclass
class _Running:
    """A pass that has begun: its observer, its number in the phase, and when it began by the clock that leaves out our own work."""

    observer: Any
    number: int
    started: float
    text: int | None


@dataclass
class _Phase:
    name: str
    texts: dict[str, int] = field(default_factory=dict)
    passes: list[_Pass] = field(default_factory=list)
    graphs: list[_Watched] = field(default_factory=list)
    running: list[_Running] = field(default_factory=list)
    started: float = 0.0
    length: int = 0


class _PassNotes:
    def __init__(self) -> None:
        self._phase: _Phase | None = None
        self._own = 0.0  # seconds of our own work
        self._now = 0.0  # by a clock that stops during that

    def wrap(self, _module: ModuleType) -> None:
        """Observe the phases, and the passes in them."""
        for name, phase in PHASES.items():
            phase.wrap(functools.partial(self._around_phase, name))
        PASS_OBSERVER_ENTER.wrap(self._around_enter)
        PASS_OBSERVER_EXIT.wrap(self._around_exit)

    def _around_phase(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def run(gm: Any, *rest: Any, **named: Any) -> Any:
            # a graph inside of the graph (a branch of `torch.cond`) has the phase to itself, within that of the outer one
            outermost = self._phase is None
            self._do(self._begin, name, gm)
            result = gm
            try:
                result = original(gm, *rest, **named)
            finally:
                self._do(self._end, gm if result is None else result)
                if outermost:
                    self._do(self._write)
                    self._phase = None
            return result

        return run

    def _around_enter(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def enter(observer: Any) -> Any:
            self._do(self._pass_begins, observer)
            return original(observer)

        return enter

    def _around_exit(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def leave(observer: Any, *failure: Any) -> Any:
            result = original(observer, *failure)
            self._do(self._pass_ends, observer)
            return result

        return leave

    def _do(self, work: Callable[..., None], *given: Any) -> None:
        """Do ``work``, whose time counts for no pass. Where it fails, the rest of the phase is not watched."""
        began = time.perf_counter()
        self._now = began - self._own
        try:
            work(*given)
        except Exception as error:  # prints graphs with values of any class, and those that a pass has left unfinished
            degraded(LOST, error)
            if self._phase is not None:
                self._phase.graphs.clear()
                self._phase.running.clear()
        self._own += time.perf_counter() - began

    def _begin(self, name: str, module: Any) -> None:
        if self._phase is None:
            self._phase = _Phase(name, started=self._now)
        phase = self._phase
        inside = phase.graphs[-1].module.named_children() if phase.graphs else ()
        graph = _Watched(
            module, next((key for key, one in inside if one is module), ""), _state(module), None, self._now
        )
        graph.text = self._printed(phase, module)
        phase.graphs.append(graph)

    def _end(self, module: Any) -> None:
        phase = self._phase
        if phase is not None and phase.graphs:
            graph = phase.graphs[-1]
            graph.module = module
            self._look(phase, graph)
            phase.graphs.pop()
            if phase.graphs:  # its text is part of the outer one's
                outer = phase.graphs[-1]
                outer.state, outer.text, outer.ended = [], None, self._now

    def _write(self) -> None:
        phase = self._phase
        if phase is None:
            return
        passes = [
            {
                "name": one.name,
                "graph": one.graph,
                "depth": one.depth,
                "seconds": round(one.seconds, 6),
                "changed": one.changed,
                **({"before": one.before, "after": one.after} if one.after is not None else {}),
            }
            for one in phase.passes
        ]
        used = {number for one in phase.passes for number in (one.before, one.after) if number is not None}
        texts = [text if number in used else "" for text, number in phase.texts.items()]
        seconds = round(self._now - phase.started, 6)
        write_note(
            f"compile_lens_{phase.name}_passes",
            {"phase": phase.name, "seconds": seconds, "graphs": texts, "passes": passes},
        )

    def _pass_begins(self, observer: Any) -> None:
        phase = self._phase
        if phase is None or not phase.graphs:
            return
        graph = phase.graphs[-1]
        if not phase.running:
            if observer.gm is not graph.module and all(observer.gm is not one for one in graph.module.modules()):
                graph.module = observer.gm  # a pass without an observer has made another module of the graph
            self._look(phase, graph)
        phase.passes.append(_Pass(str(observer.passname), graph.name, len(phase.running)))
        phase.running.append(_Running(observer, len(phase.passes) - 1, self._now, graph.text))

    def _pass_ends(self, observer: Any) -> None:
        phase = self._phase
        if phase is None or not any(one.observer is observer for one in phase.running):
            return
        while (running := phase.running.pop()).observer is not observer:
            pass
        graph, made = phase.graphs[-1], phase.passes[running.number]
        made.seconds = self._now - running.started
        made.changed = self._is_changed(phase, graph) or any(one.changed for one in phase.passes[running.number + 1 :])
        if made.changed and running.text != graph.text and None not in (running.text, graph.text):
            made.before, made.after = running.text, graph.text
        graph.ended = self._now

    def _look(self, phase: _Phase, graph: _Watched) -> None:
        """Note what has changed since the last pass ended."""
        before, ended = graph.text, graph.ended
        if self._is_changed(phase, graph) and before is not None:
            numbers = {} if graph.text is None else {"before": before, "after": graph.text}
            phase.passes.append(_Pass("", graph.name, 0, self._now - ended, True, **numbers))

    def _is_changed(self, phase: _Phase, graph: _Watched) -> bool:
        """Whether the graph is another one than when it was looked at last."""
        state, before = _state(graph.module), graph.text
        if _is_same(state, graph.state):
            return False
        graph.state, graph.text = state, self._printed(phase, graph.module)
        return before != graph.text or before is None

    def _printed(self, phase: _Phase, module: Any) -> int | None:
        """The number of the text of a graph, as torch prints it in its own trace; None if there would be too much text."""
        text = module.print_readable(print_output=False, include_stride=True, include_device=True)
        if text not in phase.texts:
            if phase.length + len(text) > MAX_TEXT:
                return None
            phase.length += len(text)
            phase.texts[text] = len(phase.texts)
        return phase.texts[text]


def _state(module: Any) -> list[tuple[Any, ...]]:
    """What a pass may change of each node. Arguments are never changed in place (``Node.args`` in torch/fx/node.py)."""
    return [
        (node, node.name, node.target, node.args, node.kwargs, node.meta.get("val"), node.meta.get("example_value"))
        for node in module.graph.nodes
    ]


def _is_same(state: list[tuple[Any, ...]], other: list[tuple[Any, ...]]) -> bool:
    """By identity: values of the graph may be symbolic, and comparing those adds guards."""
    return len(state) == len(other) and all(
        one is another for node, same in zip(state, other, strict=True) for one, another in zip(node, same, strict=True)
    )
