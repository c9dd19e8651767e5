"""The stages of a trace as a page of HTML: one file that needs nothing else, with the views linked to each other.

Everything from a program is data: it travels as JSON, and the script of the page (vscode-client/src/webview/stages) sets it as text. The
page's policy allows this one script and this one style sheet, and no network.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

from compile_lens.formats.pass_words import changes_text, is_changed, time_text
from compile_lens.formats.templates import page
from compile_lens.formats.timeline_text import cache_lines, name_of
from compile_lens.knowledge.devices import Device
from compile_lens.shown_text import visible
from compile_lens.stages.costs import KernelCost, costs_of
from compile_lens.stages.figures import bytes_text, operations_text, seconds_text
from compile_lens.stages.gpu_preview import LaunchConfiguration
from compile_lens.stages.model import Graph, GraphPass, Kernel, PassPhase, SourceSpan, Stage, StageKind
from compile_lens.stages.opened import OpenedStages
from compile_lens.stages.passes import BETWEEN, pass_stage
from compile_lens.stages.picture import picture_of
from compile_lens.stages.timeline import Phase, Timeline
from compile_lens.trace.graph_text import LINE

# a longer file is shown around the lines that something comes from
WHOLE_FILE = 2000
AROUND = 25
SCRIPT = "stages_page.js"
# the lines of a file of the user's, None if it is not here
SourceLines = Callable[[str], Sequence[str] | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class StagesPage:
    """What a page is made of. ``notes`` are sentences below its title; ``start`` is the id of the graph whose picture is wanted."""

    title: str
    stages: OpenedStages
    lines_of: SourceLines
    graphs: Sequence[Graph]
    notes: Sequence[str] = ()
    device: Device | None = None
    timeline: Timeline | None = None
    start: str = ""


def to_html(given: StagesPage) -> str:
    """The whole document."""
    data = json.dumps(_shown(_Writer(given).data()), separators=(",", ":"))
    return page(
        "stages",
        title=visible(given.title),
        notes=[visible(note) for note in given.notes],
        # no "<": a program's text cannot end the element
        data=data.replace("<", "\\u003c"),
        script=script(),
        script_hash=_hash(script()),
    )


@lru_cache(maxsize=1)
def script() -> str:
    """What runs in the page: built from vscode-client/src/webview/stages."""
    return resources.files("compile_lens.formats.templates").joinpath(SCRIPT).read_text(encoding="utf-8")


def picture_data(graph: Graph, place: Callable[[SourceSpan], int]) -> dict[str, Any]:
    """The picture of a graph for the script that draws it; ``place`` numbers the user's places."""
    picture = picture_of(graph)
    return {
        "groups": [
            {
                "title": group.kernel.name,
                "kind": group.kernel.kind.value,
                "call": group.kernel.call,
                "places": [place(span) for span in group.kernel.sources],
                "nodes": [
                    {
                        "name": node.name,
                        "label": _operator(node.target) or node.name,
                        "type": node.type,
                        "places": [place(node.span)] if node.span is not None else [],
                    }
                    for node in group.nodes
                ],
                "edges": [list(edge) for edge in group.edges],
            }
            for group in picture.groups
        ],
        "edges": [[first, second, ", ".join(names)] for first, second, names in picture.edges],
    }


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _shown(value: Any) -> Any:
    """``value`` with every text made safe to show."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {key: _shown(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_shown(one) for one in value]
    return value


class _Writer:
    def __init__(self, given: StagesPage) -> None:
        self._given = given
        self._places: dict[tuple[str, int, int], int] = {}

    def data(self) -> dict[str, Any]:
        graphs = [self._graph(graph) for graph in self._given.graphs]
        files = list(dict.fromkeys(file for file, _, _ in self._places))
        number = {file: index for index, file in enumerate(files)}
        device = self._given.device
        return {
            "title": self._given.title,
            "notes": list(self._given.notes),
            "files": [{"name": file, "lines": self._lines(file)} for file in files],
            "places": [{"file": number[file], "line": line, "end": end} for file, line, end in self._places],
            "graphs": graphs,
            "timeline": _timeline(self._given.timeline) if self._given.timeline is not None else None,
            "device": device.title if device is not None else "",
            "start": self._given.start,
        }

    def _place(self, span: SourceSpan) -> int:
        return self._places.setdefault((span.file, span.line, span.end_line or span.line), len(self._places))

    def _graph(self, graph: Graph) -> dict[str, Any]:
        costs = costs_of(graph, self._given.device)
        # those of passes come last: the page has a table for them in place of tabs
        stages = [stage for stage in graph.stages if stage.kind is not StageKind.KERNEL]
        stages.sort(key=lambda stage: stage.kind is StageKind.PASS)
        return {
            "id": graph.id,
            "title": f"{graph.function or graph.id} [{graph.compile_id}] {graph.direction.value.replace('_', ' ')}",
            "kernels": [self._kernel(graph, kernel, cost) for kernel, cost in zip(graph.kernels, costs, strict=True)],
            "stages": [self._stage(stage) for stage in stages],
            "passes": list(_passes(graph, [stage.id for stage in stages])),
            "picture": picture_data(graph, self._place),
        }

    def _stage(self, stage: Stage) -> dict[str, Any]:
        links = self._given.stages.links_of(stage)
        return {
            "id": stage.id,
            "kind": stage.kind.value,
            "title": stage.title,
            "kernel": stage.kernel,
            "text": stage.text,
            "links": {str(line): [self._place(span) for span in spans] for line, spans in links.sources.items()},
        }

    def _kernel(self, graph: Graph, kernel: Kernel, cost: KernelCost) -> dict[str, Any]:
        estimate = cost.estimate
        preview = self._given.stages.preview
        known = preview.kernel(kernel.name, graph.compile_id) if preview is not None else None
        return {
            "name": kernel.name,
            "call": kernel.call,
            "kind": kernel.kind.value,
            "certainty": known.label if known is not None else "",
            "why": known.why if known is not None else "",
            "configurations": [_configuration(one) for one in known.configurations] if known is not None else [],
            "operators": list(kernel.operators),
            "places": [self._place(span) for span in kernel.sources],
            "lines": [[lines.first, lines.last] for lines in kernel.lines],
            "moved": bytes_text(cost.moved) if cost.moved is not None else "",
            "avoided": bytes_text(kernel.avoided) if kernel.avoided is not None else "",
            "operations": operations_text(cost.work.total) if cost.work is not None else "",
            "estimate": seconds_text(estimate.seconds) if estimate is not None else "",
            "limit": estimate.limit.value if estimate is not None else "",
        }

    def _lines(self, file: str) -> list[tuple[int, str]]:
        known = self._given.lines_of(file)
        if known is None:
            return sorted(_told_lines(self._given.graphs, file).items())
        if len(known) <= WHOLE_FILE:
            return list(enumerate(known, 1))
        shown = {
            number
            for name, line, end in self._places
            if name == file
            for number in range(line - AROUND, end + AROUND + 1)
        }
        return [(number, known[number - 1]) for number in sorted(shown) if 0 < number <= len(known)]


def _passes(graph: Graph, stages: Sequence[str]) -> Iterator[dict[str, Any]]:
    """A row for each phase, and for each pass of it; ``stage`` is the number of the document of its changes, -1 without one."""
    for phase in graph.phases:
        yield _pass(graph, phase, f"{phase.kind.value} passes", 0, stages)
        for one in phase.passes:
            inner = f" in {one.inner}" if one.inner else ""
            yield _pass(graph, one, f"{one.name or BETWEEN}{inner}", one.depth + 1, stages)


def _pass(graph: Graph, of: GraphPass | PassPhase, name: str, depth: int, stages: Sequence[str]) -> dict[str, Any]:
    own = pass_stage(graph.id, of).id
    return {
        "name": name,
        "depth": depth,
        "seconds": time_text(of.seconds),
        "changes": changes_text(of),
        "is_changed": bool(is_changed(of)) or own in stages,
        "stage": stages.index(own) if own in stages else -1,
    }


def _configuration(one: LaunchConfiguration) -> list[str]:
    """How a kernel may be launched, and what it takes of the GPU, where it was compiled."""
    numbers = [
        "" if value is None else str(value)
        for value in (one.registers, bytes_text(one.shared) if one.shared is not None else None, one.spills)
    ]
    return [f"{one} (does not fit)" if one.error else str(one), *numbers]


def _told_lines(graphs: Iterable[Graph], file: str) -> dict[int, str]:
    """The lines of a file that comments in graphs quote."""
    found: dict[int, str] = {}
    for graph in graphs:
        for kind in (StageKind.DYNAMO, StageKind.FORWARD, StageKind.INFERENCE, StageKind.BACKWARD):
            stage = graph.stage(kind)
            quoted = _quoted(stage.text) if stage is not None else ()
            found.update({line: code for name, line, code in quoted if name == file})
    return found


def _quoted(text: str) -> Iterator[tuple[str, int, str]]:
    for content in text.splitlines():
        if match := LINE.match(content):
            yield match["file"], int(match["line"]), match["code"]


def _operator(target: str) -> str:
    return target.removeprefix("torch.ops.").removesuffix(".default")


def _timeline(timeline: Timeline) -> dict[str, Any]:
    phases = list(Phase)
    number = {phase: index for index, phase in enumerate(phases)}
    rows = []
    for compile_id in timeline.by_frame():
        spans = [span for span in timeline.spans if span.compile_id == compile_id and span.lane == 0]
        if not spans:
            continue
        # what a frame compiles later (a backward pass, autotuning) is a stretch of its own
        for top in (span for span in spans if span.depth == 0):
            inner = [span for span in spans if top.start <= span.start and span.end <= top.end]
            rows.append(
                {
                    "title": f"{name_of(timeline, compile_id)} {top.name}",
                    "start": top.start,
                    "seconds": max(top.duration, 1e-9),
                    "spans": [
                        [round(span.start, 6), round(span.duration, 6), span.depth, number[span.phase], span.name]
                        for span in inner
                    ],
                }
            )
    return {
        "total": round(timeline.total, 3),
        "phases": [phase.value for phase in phases],
        "rows": rows,
        "caches": cache_lines(timeline),
    }
