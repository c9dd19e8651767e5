"""What two compilations made otherwise, stage by stage: graphs are paired by their functions, lines are compared without noise."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import PurePath

from compile_lens.diff.stage_text import renumbered, without_noise
from compile_lens.stages.model import Graph, Kernel, KernelKind, Stage, StageKind
from compile_lens.stages.opened import OpenedStages

CONTEXT = 3
_RESUME = re.compile(r"_at_\d+$")
_LIBRARY = (KernelKind.EXTERN, KernelKind.FALLBACK)


@dataclass(frozen=True, slots=True)
class GraphFigures:
    """What the kernels of one or more graphs come to. ``traffic`` are bytes, None if the size of one is not known."""

    kernels: int
    library_calls: int
    traffic: int | None

    def __add__(self, other: GraphFigures) -> GraphFigures:
        both = None if self.traffic is None or other.traffic is None else self.traffic + other.traffic
        return GraphFigures(self.kernels + other.kernels, self.library_calls + other.library_calls, both)


NO_FIGURES = GraphFigures(0, 0, 0)


@dataclass(frozen=True, slots=True)
class ChangedLine:
    """A line of a diff. ``sign`` is ' ', '-' or '+'; ``text`` is as it was written."""

    sign: str
    text: str


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines that changed, with those around them. ``before`` and ``after`` are the first lines, counted from 1."""

    before: int
    after: int
    lines: tuple[ChangedLine, ...]


@dataclass(frozen=True, slots=True)
class StageChange:
    """One stage of a pair of graphs. None: that side does not have it. ``only_names``: other values of the same names are used."""

    kind: StageKind
    before: Stage | None
    after: Stage | None
    hunks: tuple[Hunk, ...] = ()
    only_names: bool = False

    @property
    def is_changed(self) -> bool:
        return bool(self.hunks) or (self.before is None) != (self.after is None)

    def count(self, sign: str) -> int:
        """How many lines were added ('+') or removed ('-')."""
        return sum(line.sign == sign for hunk in self.hunks for line in hunk.lines)


@dataclass(frozen=True, slots=True)
class GraphChange:
    """A graph on both sides, None where it is not there."""

    before: Graph | None
    after: Graph | None
    stages: tuple[StageChange, ...]

    @property
    def shown(self) -> Graph:
        """The side that names it."""
        side = self.after or self.before
        assert side is not None
        return side

    @property
    def figures(self) -> tuple[GraphFigures, GraphFigures]:
        return figures_of(self.before), figures_of(self.after)

    @property
    def new_kernels(self) -> tuple[str, ...]:
        """Kernels that only the later side has, or has more of; without their numbers."""
        return tuple((_names(self.after) - _names(self.before)).elements())

    @property
    def gone_kernels(self) -> tuple[str, ...]:
        """The same of the earlier side."""
        return tuple((_names(self.before) - _names(self.after)).elements())

    @property
    def is_changed(self) -> bool:
        return self.before is None or self.after is None or any(stage.is_changed for stage in self.stages)


@dataclass(frozen=True, slots=True)
class StageComparison:
    """Two sides by their names, and their graphs in the order of the later side."""

    before: str
    after: str
    graphs: tuple[GraphChange, ...]

    @property
    def figures(self) -> tuple[GraphFigures, GraphFigures]:
        """Of all graphs of each side."""
        first, second = NO_FIGURES, NO_FIGURES
        for graph in self.graphs:
            before, after = graph.figures
            first, second = first + before, second + after
        return first, second

    @property
    def is_changed(self) -> bool:
        return any(graph.is_changed for graph in self.graphs)


def figures_of(graph: Graph | None) -> GraphFigures:
    """What the kernels of ``graph`` come to."""
    if graph is None:
        return NO_FIGURES
    moved = [_traffic(kernel) for kernel in graph.kernels]
    known = [one for one in moved if one is not None]
    return GraphFigures(
        kernels=sum(kernel.kind not in _LIBRARY for kernel in graph.kernels),
        library_calls=sum(kernel.kind in _LIBRARY for kernel in graph.kernels),
        traffic=sum(known) if len(known) == len(moved) else None,
    )


def compare_stages(
    before: tuple[str, OpenedStages], after: tuple[str, OpenedStages], kinds: Sequence[StageKind] = ()
) -> StageComparison:
    """Compare two sides, each with its name; ``kinds`` limits the stages, all if there are none."""
    pairs = _paired(before[1].graphs, after[1].graphs)
    changes = tuple(GraphChange(old, new, tuple(_stages(old, new, kinds))) for old, new in pairs)
    return StageComparison(before[0], after[0], changes)


def compare_pass(graph: Graph, before: StageKind, after: StageKind) -> StageChange | None:
    """What the passes between two stages of one graph changed; None if it lacks one of the stages."""
    old, new = graph.stage(before), graph.stage(after)
    return None if old is None or new is None else _stage(after, old, new)


def _paired(before: Sequence[Graph], after: Sequence[Graph]) -> Iterator[tuple[Graph | None, Graph | None]]:
    """The same compilation of the same function, or else the same function, then a function of that name in another file."""
    keys: tuple[Callable[[Graph], Hashable], ...] = (
        lambda graph: (_file(graph), _function(graph), graph.direction, graph.compile_id),
        lambda graph: (_file(graph), _function(graph), graph.direction),
        lambda graph: (_function(graph), graph.direction),
    )
    partner: dict[int, Graph] = {}
    left = list(before)
    for key in keys:
        for index, graph in enumerate(after):
            if index in partner:
                continue
            found = next((other for other in left if key(other) == key(graph)), None)
            if found is not None:
                partner[index] = found
                left.remove(found)
    yield from ((partner.get(index), graph) for index, graph in enumerate(after))
    yield from ((graph, None) for graph in left)


def _function(graph: Graph) -> str:
    return _RESUME.sub("", graph.function)


def _file(graph: Graph) -> str:
    return PurePath(graph.file).name


def _stages(before: Graph | None, after: Graph | None, kinds: Sequence[StageKind]) -> Iterator[StageChange]:
    for kind in kinds or tuple(StageKind):
        if kind in (StageKind.KERNEL, StageKind.PASS):  # in the output code; the graphs around it are compared
            continue
        old = before.stage(kind) if before is not None else None
        new = after.stage(kind) if after is not None else None
        if old is not None or new is not None:
            yield _stage(kind, old, new)


def _stage(kind: StageKind, before: Stage | None, after: Stage | None) -> StageChange:
    if before is None or after is None:
        return StageChange(kind, before, after)
    old, new = before.text, after.text
    if old == new:
        return StageChange(kind, before, after)
    hunks = tuple(_hunks(old, new, without_noise))
    if hunks:
        return StageChange(kind, before, after, hunks)
    renamed = tuple(_hunks(old, new, renumbered))
    return StageChange(kind, before, after, renamed, bool(renamed))


def _hunks(before: str, after: str, clean: Callable[[str], str]) -> Iterator[Hunk]:
    old, new = before.split("\n"), after.split("\n")
    cleaned_old, cleaned_new = clean(before).split("\n"), clean(after).split("\n")
    if cleaned_old == cleaned_new:
        return
    matcher = SequenceMatcher(None, cleaned_old, cleaned_new, autojunk=False)
    for group in matcher.get_grouped_opcodes(CONTEXT):
        lines: list[ChangedLine] = []
        for tag, first, last, from_new, to_new in group:
            if tag == "equal":
                lines += [ChangedLine(" ", line) for line in new[from_new:to_new]]
            else:
                lines += [ChangedLine("-", line) for line in old[first:last]]
                lines += [ChangedLine("+", line) for line in new[from_new:to_new]]
        yield Hunk(group[0][1] + 1, group[0][3] + 1, tuple(lines))


def _names(graph: Graph | None) -> Counter[str]:
    return Counter(without_noise(kernel.name) for kernel in graph.kernels) if graph is not None else Counter()


def _traffic(kernel: Kernel) -> int | None:
    if kernel.bytes_read is None or kernel.bytes_written is None:
        return None
    return kernel.bytes_read + kernel.bytes_written
