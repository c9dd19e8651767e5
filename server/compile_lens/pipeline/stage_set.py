"""The compiler's stages of one run or opened trace, and how their lines belong to those of the user's files.

Files and lines are those of this machine when the stages were opened; ``documents/moves.py`` leads from there to the present text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from compile_lens.documents.documents import file_key
from compile_lens.documents.line_index import LineIndex
from compile_lens.documents.moves import LineMap
from compile_lens.stages.model import Graph, Kernel, SourceSpan, Stage, StageKind
from compile_lens.stages.opened import OpenedStages
from compile_lens.state.stage_folders import OPENED, VARIANT, StageFacts

# as many colors are told apart with any kind of color vision; docs/editors/protocol.md promises the number
COLORS = 8
# the ending by which an editor finds the language of a document
ENDINGS = {"python": ".py", "cpp": ".cpp", "mlir": ".mlir", "llvm": ".ll", "ptx": ".ptx", "diff": ".diff"}
Here = Callable[[str, int], tuple[str, int]]
Lines = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Link:
    """Lines of a stage that were made of the same lines of a file. Lines count from 1; ``color`` from 0, the same in both."""

    file: str
    line: int
    end_line: int
    ranges: tuple[Lines, ...]
    color: int


@dataclass(frozen=True, slots=True)
class KernelAt:
    """A kernel that computes a line of the user's, and the generated code that it stands in."""

    graph: Graph
    kernel: Kernel
    code: Stage


@dataclass(slots=True)
class StageSet:
    """``here`` leads from a recorded line to the one of this machine."""

    key: str
    facts: StageFacts
    opened: OpenedStages
    here: Here
    _links: dict[str, tuple[Link, ...]] = field(default_factory=dict)
    _maps: dict[str, tuple[LineIndex, LineMap]] = field(default_factory=dict)
    _kernels: dict[tuple[str, int], list[KernelAt]] | None = None

    def read_kernels(self, read: Callable[[str], str | None]) -> None:
        """Find out which kernels compute which line, once, and ``read`` the files that they were made of. Not for the event loop."""
        if self._kernels is None:
            kernels = self._kernels_by_line()
            files = dict.fromkeys(
                file for graph in self.graphs for kernel in graph.kernels for file, _ in self.places(kernel)
            )
            texts = ((file, read(file)) for file in files if Path(file).is_absolute() and file not in self.facts.texts)
            known = {**self.facts.texts, **{file: text for file, text in texts if text is not None}}
            self.facts = replace(self.facts, texts=known)
            self._kernels = kernels

    @property
    def knows_kernels(self) -> bool:
        """Whether ``read_kernels`` is over; before, no line has any."""
        return self._kernels is not None

    @property
    def graphs(self) -> tuple[Graph, ...]:
        """The graphs with at least one stage."""
        return tuple(graph for graph in self.opened.graphs if graph.documents)

    @property
    def files(self) -> set[str]:
        """The keys of the files that kernels compute something of."""
        return {key for key, _ in self._kernels or ()}

    def stage_named(self, name: str) -> Stage | None:
        """The stage of a document's name: its id, with an ending."""
        stage = self.opened.stage(name.rpartition(".")[0])
        return stage if stage is not None and name_of(stage) == name else None

    def code_of(self, graph: Graph) -> Stage | None:
        """The generated code of a graph."""
        return graph.stage(StageKind.OUTPUT_CODE)

    def links(self, stage: Stage) -> tuple[Link, ...]:
        """What the lines of a stage were made of. Reads the stage when it is first asked for."""
        if stage.id not in self._links:
            self._links[stage.id] = tuple(_links(self.opened.links_of(stage).sources, self.here))
        return self._links[stage.id]

    def kernels_at(self, path: str, line: int) -> list[KernelAt]:
        """The kernels that compute a line, as it was, of the file ``path``."""
        return (self._kernels or {}).get((file_key(path), line), [])

    def graph_at(self, path: str, line: int) -> Graph | None:
        """The graph that computes most of a line, as it was; else the one of the function that begins last before it."""
        at = self.newest(self.kernels_at(path, line))
        if at:
            return at[0].graph
        key = file_key(path)
        begun = [
            graph
            for graph in self.graphs
            if file_key(self.here(graph.file, graph.line)[0]) == key and graph.line <= line
        ]
        return max(begun, key=lambda graph: graph.line, default=None)

    def newest(self, found: Iterable[KernelAt]) -> list[KernelAt]:
        """Those of the last compilation of each frame: a recompile makes the same kernels anew."""
        known = list(found)
        last = {at.graph.compile_id.partition("/")[0]: at.graph.compile_id for at in known}
        return [at for at in known if at.graph.compile_id in last.values()]

    def places(self, kernel: Kernel) -> list[tuple[str, int]]:
        """The lines, as they were, that a kernel computes."""
        return list(dict.fromkeys(self.here(span.file, span.line) for span in kernel.sources))

    def line_map(self, path: str, now: LineIndex | None) -> LineMap | None:
        """How the lines of a file have moved; None if they have not, or nothing of it was kept."""
        then = self.facts.texts.get(path)
        if then is None or now is None:
            return None
        known = self._maps.get(path)
        if known is None or known[0] is not now:
            known = self._maps[path] = (now, LineMap(LineIndex(then), now))
        return known[1]

    def is_stale(self, now: LineIndex | None) -> bool:
        """Whether the file that ran is another text by now. What was made for a comparison is not renewed."""
        return self.facts.kind != VARIANT and self.is_of_another_text(now)

    def is_of_another_text(self, now: LineIndex | None) -> bool:
        """Whether the file was another text when it ran."""
        found = self.line_map(self.facts.file, now) if self.facts.kind != OPENED else None
        return found is not None and found.has_changed

    def _kernels_by_line(self) -> dict[tuple[str, int], list[KernelAt]]:
        found: dict[tuple[str, int], list[KernelAt]] = defaultdict(list)
        for graph in self.graphs:
            code = self.code_of(graph)
            for kernel in graph.kernels if code is not None else ():
                places = {place for span in kernel.sources for place in _lines_of(span, self.here)}
                for file, line in sorted(places):
                    if code is not None:
                        found[file_key(file), line].append(KernelAt(graph, kernel, code))
        return dict(found)


def name_of(stage: Stage) -> str:
    """The name of the document of a stage: its id, and the ending of its language."""
    return f"{stage.id}{ENDINGS.get(stage.language, '.txt')}"


def bands(links: Iterable[Link]) -> list[tuple[int, int, int]]:
    """First and last line of each stretch of one color. A line that was made of several places has the color of the rarest."""
    colors: dict[int, int] = {}
    for link in sorted(links, key=lambda link: -sum(last - first + 1 for first, last in link.ranges)):
        for first, last in link.ranges:
            colors.update(dict.fromkeys(range(first, last + 1), link.color))
    found: list[tuple[int, int, int]] = []
    for line, color in sorted(colors.items()):
        if found and found[-1][1] == line - 1 and found[-1][2] == color:
            found[-1] = (found[-1][0], line, color)
        else:
            found.append((line, line, color))
    return found


def _links(sources: Mapping[int, Iterable[SourceSpan]], here: Here) -> Iterator[Link]:
    lines: dict[tuple[str, int, int], list[int]] = defaultdict(list)
    for number in sorted(sources):
        for span in sources[number]:
            file, line = here(span.file, span.line)
            rest = max((span.end_line or span.line) - span.line, 0)
            lines[file, line, line + rest].append(number)
    # neighbors in the source get different colors, in both documents
    colors = {start: number % COLORS for number, start in enumerate(sorted({place[:2] for place in lines}))}
    for place, numbers in lines.items():
        yield Link(*place, tuple(_ranges(numbers)), colors[place[:2]])


def _lines_of(span: SourceSpan, here: Here) -> Iterator[tuple[str, int]]:
    for line in range(span.line, max(span.end_line or span.line, span.line) + 1):
        yield here(span.file, line)


def _ranges(numbers: Iterable[int]) -> Iterator[Lines]:
    """Ascending numbers as first and last of each row of them."""
    first = last = 0
    for number in numbers:
        if first and number > last + 1:
            yield first, last
            first = 0
        first, last = first or number, number
    if first:
        yield first, last
