"""The graphs that Inductor compiled: their operators with the user's lines, and the code that it made of them.

A graph from torch's cache has the lines of the run that put it there: of another copy of the file, or of a text that was edited since
(``CompiledFxGraph`` keeps the printed graph: torch/_inductor/output_code.py, torch 2.13). What Dynamo traced has those of this run.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from msgspec.structs import replace

from compile_lens.analysis.finding import Place
from compile_lens.analysis.sources import Sources
from compile_lens.trace.graph_text import GraphNode, parse_graph
from compile_lens.trace.records import Payload
from compile_lens.trace.report import Compilation, CompileReport, StackFrame

TRACED, OPTIMIZED, CODE = "dynamo_output_graph", "inductor_post_grad_graph", "inductor_output_code"
CACHE_HITS = ("fx_graph_cache_hit", "aotautograd_cache_hit")


class CompiledGraph:
    """One graph after Inductor's passes, forward or backward; what finders do not ask for is not read.

    ``lost`` are the names of nodes from torch's cache whose lines are not in this run.
    """

    def __init__(
        self, compilation: Compilation, optimized: Payload, code: Payload, traced: Payload | None, is_kept: bool
    ) -> None:
        self.compilation = compilation
        self._optimized = optimized
        self._code = code
        self._traced = traced
        self._is_kept = is_kept

    @property
    def code(self) -> str:
        """Inductor's output code; '' if it is damaged."""
        return self._code.text() or ""

    @property
    def nodes(self) -> tuple[GraphNode, ...]:
        """The operators, at the lines of this run."""
        return self._read[0]

    @property
    def lost(self) -> frozenset[str]:
        """See above."""
        return self._read[1]

    @cached_property
    def by_name(self) -> dict[str, GraphNode]:
        """The operators by their names."""
        return {node.name: node for node in self.nodes}

    @cached_property
    def _users(self) -> dict[str, list[GraphNode]]:
        """The operators that take the result of each, in order."""
        found: dict[str, list[GraphNode]] = {}
        for node in self.nodes:
            for name in dict.fromkeys(node.operands):
                found.setdefault(name, []).append(node)
        return found

    @cached_property
    def _read(self) -> tuple[tuple[GraphNode, ...], frozenset[str]]:
        nodes = parse_graph(self._optimized.text() or "")
        if not self._is_kept:
            return nodes, frozenset()
        return _as_traced(nodes, parse_graph((self._traced.text() if self._traced else None) or ""))

    def place_of(self, node: GraphNode, sources: Sources) -> Place | None:
        """The user's line that ``node`` comes from, or the first that uses it; None if there is none.

        The function, if that line was lost.
        """
        pending = [node]
        visited = {node.name}
        while pending:
            found = pending.pop(0)
            if found.name in self.lost:
                frame = StackFrame(self.compilation.file, self.compilation.line, self.compilation.function)
                return sources.place_of(frame) if sources.is_own(frame.file) else None
            if found.file is not None and found.line is not None and sources.is_own(found.file):
                return sources.line_in_graph(found.file, found.line)
            users = [user for user in self._users.get(found.name, ()) if user.name not in visited]
            visited.update(user.name for user in users)
            pending += users
        return None


def compiled_graphs(report: CompileReport) -> Iterator[CompiledGraph]:
    """Every graph that Inductor compiled, in the order of the run."""
    compilations = {compilation.compile_id: compilation for compilation in report.compilations}
    traced: dict[str, Payload] = {}
    optimized: dict[str, Payload] = {}
    kept = {artifact.compile_id for artifact in report.artifacts if artifact.name in CACHE_HITS}
    for artifact in report.artifacts:
        compilation = compilations.get(artifact.compile_id or "")
        if compilation is None:
            continue
        name = compilation.compile_id
        if artifact.name == TRACED:
            traced[name] = artifact.payload
        elif artifact.name == OPTIMIZED:
            optimized[name] = artifact.payload
        elif artifact.name == CODE and name in optimized:
            yield CompiledGraph(compilation, optimized.pop(name), artifact.payload, traced.get(name), name in kept)


def _as_traced(
    nodes: tuple[GraphNode, ...], traced: tuple[GraphNode, ...]
) -> tuple[tuple[GraphNode, ...], frozenset[str]]:
    """``nodes`` from the cache at the lines of this run: those with the same text in the same function, in order; and those without."""
    now, then = _lines_by_source(traced), _lines_by_source(nodes)
    moved, lost = [], set()
    for node in nodes:
        lines = now.get(node.source, ())
        if node.file is None or node.line is None or (node.file, node.line) in lines:
            moved.append(node)
        elif lines:
            which = min(then[node.source].index((node.file, node.line)), len(lines) - 1)
            moved.append(replace(node, file=lines[which][0], line=lines[which][1]))
        else:
            lost.add(node.name)
            moved.append(replace(node, file=None, line=None))
    return tuple(moved), frozenset(lost)


def _lines_by_source(nodes: tuple[GraphNode, ...]) -> dict[str, list[tuple[str, int]]]:
    lines: dict[str, list[tuple[str, int]]] = {}
    for node in nodes:
        if (
            node.file is not None
            and node.line is not None
            and (node.file, node.line) not in lines.setdefault(node.source, [])
        ):
            lines[node.source].append((node.file, node.line))
    return lines
