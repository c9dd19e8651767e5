"""What hovers, lenses, the details panel and the tree say of the kernels and stages of a line or region."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

from lsprotocol import types

from compile_lens.documents.documents import Snapshot, file_key
from compile_lens.lsp.compiler_stages.commands import AGAIN, LIST, OPEN, SHOW
from compile_lens.lsp.compiler_stages.navigation import StageNavigation
from compile_lens.lsp.compiler_stages.store import StageStore
from compile_lens.lsp.convert import uri_from_path
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.pipeline.stage_set import KernelAt, StageSet
from compile_lens.shown_text import code_span, markdown_text
from compile_lens.stages.model import Direction, Graph
from compile_lens.state.stage_folders import RUN
from compile_lens.syntax.regions import Region
from compile_lens.wording import and_more, counted

MOST_KERNELS = 8
MOST_LINES = 6
STALE = "The file has changed since."


class StageWords:
    """Answers from what is loaded, so that it can be asked for every hover."""

    def __init__(self, server: CompileLensServer, store: StageStore, navigation: StageNavigation) -> None:
        self._server, self._store, self._navigation = server, store, navigation

    def hover(self, snapshot: Snapshot, line: int) -> str:
        """The kernels that compute a line (from 1), as Markdown; '' if none is known."""
        parts = [
            self._of_source(snapshot, of, found, line) for of, found in self._navigation.kernels_at(snapshot, line)
        ]
        return "\n\n".join(parts)

    def _of_source(self, snapshot: Snapshot, of: StageSet, found: Sequence[KernelAt], line: int) -> str:
        # a library's kernel may be called several times
        calls = Counter((at.graph.id, at.kernel.name) for at in found)
        firsts = {(at.graph.id, at.kernel.name): at for at in reversed(found)}
        rows = [self._row(snapshot, of, firsts[name], number, line) for name, number in calls.items()]
        left_out = len(rows) - MOST_KERNELS
        shown = [*rows[:MOST_KERNELS], *([f"- {left_out} more"] if left_out > 0 else [])]
        origin = f" ({markdown_text(of.facts.title)})" if of.facts.kind != RUN else ""
        stale = f"\n\n{STALE}" if of.is_stale(self._server.sources.index(of.facts.file)) else ""
        return f"**{in_directions(found)}**{origin}\n\n" + "\n".join(shown) + stale

    def _row(self, snapshot: Snapshot, of: StageSet, at: KernelAt, number: int, line: int) -> str:
        times = f" ({number} calls)" if number > 1 else ""
        return f"- {at.graph.direction.value}: {self._link(of, at)}{times}{self._with(of, at, snapshot, line)}"

    def _link(self, of: StageSet, at: KernelAt) -> str:
        """A kernel, as a link to its code where the editor can follow one."""
        name = code_span(at.kernel.name)
        lines = at.kernel.definition or at.kernel.called_at
        first = lines.first if lines is not None else 1
        if self._server.editor.takes_contents:
            if not self._server.editor.follows_command_links:
                return name
            arguments = quote(json.dumps([self._store.name(of, at.code), str(first)]), safe="")
            return f"[{name}](command:{SHOW}?{arguments})"
        try:
            return f"[{name}]({self._store.uri(of, at.code)}#L{first})"
        except OSError:
            return name

    def _with(self, of: StageSet, at: KernelAt, snapshot: Snapshot, line: int) -> str:
        """The other lines that a kernel computes: what it was fused with."""
        moves = of.line_map(snapshot.path or "", snapshot.index)
        lines = []
        for file, then in of.places(at.kernel):
            if file == snapshot.path:
                now = moves.now(then) if moves is not None else then
                if now is not None and now != line:
                    lines.append(now)
        lines = sorted(set(lines))
        if not lines:
            return ""
        names = ", ".join(map(str, lines[:MOST_LINES]))
        return f", with {'line' if len(lines) == 1 else 'lines'} {names}{and_more(len(lines) - MOST_LINES)}"

    def lenses(self, snapshot: Snapshot, regions: Iterable[Region]) -> Iterator[tuple[int, types.Command]]:
        """The stages of each region, if they are known; in a stage, an offer to renew it. Lines count from 1."""
        found = self._store.loaded(snapshot.uri)
        if found is not None:
            file = found.of.facts.file
            if found.of.is_stale(self._server.sources.index(file)):
                arguments = [uri_from_path(file, self._server.sources), AGAIN]
                yield (
                    1,
                    types.Command(f"{Path(file).name} has changed since · compile it again", LIST, arguments=arguments),
                )
            return
        for region in regions:
            if told := self.of_region(snapshot, region):
                yield region.line, self.command(snapshot.uri, region.line, f"compiler stages: {told}")

    def of_region(self, snapshot: Snapshot, region: Region) -> str:
        """``2 graphs · 9 kernels`` of a region in the last run that was asked for stages; '' if nothing is known."""
        of = self._store.of_run(snapshot.path) if snapshot.path is not None else None
        if of is None or not of.knows_kernels or snapshot.path is None:
            return ""
        graphs = [graph for graph in of.graphs if self._is_of(of, graph, snapshot, region)]
        if not graphs:
            return ""
        kernels = sum(len(graph.kernels) for graph in graphs)
        told = f"{counted(len(graphs), 'graph')} · {counted(kernels, 'kernel') if kernels else 'no kernels'}"
        return f"{told} · changed since" if of.is_stale(snapshot.index) else told

    @staticmethod
    def _is_of(of: StageSet, graph: Graph, snapshot: Snapshot, region: Region) -> bool:
        """Whether a graph is of a region: by what the run noted, else by the lines of its function."""
        path = snapshot.path or ""
        moves = of.line_map(path, snapshot.index)

        def now(line: int) -> int:
            return (moves.now(line) if moves is not None else line) or 0

        called = graph.region
        if (
            called is not None
            and file_key(called.file) == file_key(path)
            and region.line <= now(called.line) <= region.end_line
        ):
            return True
        first, last = region.target_line or region.line, region.target_end_line or region.end_line
        return file_key(graph.file) == file_key(path) and first <= now(graph.line) <= last

    def command(self, uri: str, line: int, title: str) -> types.Command:
        """The command that asks which stage to open."""
        return types.Command(title, OPEN, arguments=[uri, str(line)])


def in_directions(found: Sequence[KernelAt]) -> str:
    """``2 kernels forward, 3 backward``."""
    numbers = Counter(at.graph.direction for at in found)
    parts = [(direction, numbers[direction]) for direction in Direction if numbers[direction]]
    words = [
        f"{counted(number, 'kernel') if place == 0 else number} {direction.value}"
        for place, (direction, number) in enumerate(parts)
    ]
    return ", ".join(words)
