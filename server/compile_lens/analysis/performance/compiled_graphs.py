"""The graphs that Inductor compiled: their operators with the user's lines, and the code that it made of them.

A graph from torch's cache has the lines of the run that put it there: of another copy of the file, or of a text that was edited since
(``CompiledFxGraph`` keeps the printed graph: torch/_inductor/output_code.py, torch 2.13). What Dynamo traced has those of this run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from compile_lens.analysis.finding import Place
from compile_lens.analysis.sources import Sources
from compile_lens.trace.graph_text import GraphNode, parse_graph
from compile_lens.trace.report import Compilation, CompileReport, StackFrame

TRACED, OPTIMIZED, CODE = "dynamo_output_graph", "inductor_post_grad_graph", "inductor_output_code"
CACHE_HITS = ("fx_graph_cache_hit", "aotautograd_cache_hit")


@dataclass(frozen=True, slots=True)
class CompiledGraph:
    """One graph after Inductor's passes, forward or backward. ``code`` is its output code, '' while there is none.

    ``lost`` are the names of nodes from torch's cache whose lines are not in this run.
    """

    compilation: Compilation
    nodes: tuple[GraphNode, ...]
    code: str
    lost: frozenset[str] = frozenset()

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
            users = [user for user in self.nodes if found.name in user.operands and user.name not in visited]
            visited.update(user.name for user in users)
            pending += users
        return None


def compiled_graphs(report: CompileReport) -> Iterator[CompiledGraph]:
    """Every graph that Inductor compiled, in the order of the run."""
    compilations = {compilation.compile_id: compilation for compilation in report.compilations}
    traced: dict[str, tuple[GraphNode, ...]] = {}
    made: dict[str, CompiledGraph] = {}
    kept = {artifact.compile_id for artifact in report.artifacts if artifact.name in CACHE_HITS}
    for artifact in report.artifacts:
        compilation = compilations.get(artifact.compile_id or "")
        if compilation is None or artifact.name not in (TRACED, OPTIMIZED, CODE):
            continue
        text = artifact.payload.text()
        if text is None:
            continue
        name = compilation.compile_id
        if artifact.name == TRACED:
            traced[name] = parse_graph(text)
        elif artifact.name == OPTIMIZED:
            graph = CompiledGraph(compilation, parse_graph(text), "")
            made[name] = _as_traced(graph, traced.get(name, ())) if name in kept else graph
        elif name in made:
            yield replace(made.pop(name), code=text)


def _as_traced(graph: CompiledGraph, traced: tuple[GraphNode, ...]) -> CompiledGraph:
    """``graph`` from the cache at the lines of this run: those with the same text in the same function, in order."""
    now, then = _lines_by_source(traced), _lines_by_source(graph.nodes)
    moved, lost = [], set()
    for node in graph.nodes:
        lines = now.get(node.source, ())
        if node.file is None or node.line is None or (node.file, node.line) in lines:
            moved.append(node)
        elif lines:
            which = min(then[node.source].index((node.file, node.line)), len(lines) - 1)
            moved.append(replace(node, file=lines[which][0], line=lines[which][1]))
        else:
            lost.add(node.name)
            moved.append(replace(node, file=None, line=None))
    return replace(graph, nodes=tuple(moved), lost=frozenset(lost))


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
