"""The graphs that Inductor compiled: their operators with the user's lines, and the code that it made of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from compile_lens.analysis.finding import Place
from compile_lens.analysis.sources import Sources
from compile_lens.trace.graph_text import GraphNode, parse_graph
from compile_lens.trace.report import Compilation, CompileReport, StackFrame


@dataclass(frozen=True, slots=True)
class CompiledGraph:
    """One graph after Inductor's passes, forward or backward. ``code`` is its output code, '' while there is none."""

    compilation: Compilation
    nodes: tuple[GraphNode, ...]
    code: str

    def place_of(self, node: GraphNode, sources: Sources) -> Place | None:
        """The user's line that ``node`` comes from, or the first that uses it; None if there is none."""
        pending = [node]
        seen = {node.name}
        while pending:
            found = pending.pop(0)
            if found.file is not None and found.line is not None and sources.is_own(found.file):
                return sources.line_of(StackFrame(found.file, found.line, ""))
            users = [user for user in self.nodes if found.name in user.operands and user.name not in seen]
            seen.update(user.name for user in users)
            pending += users
        return None


def compiled_graphs(report: CompileReport) -> Iterator[CompiledGraph]:
    """Every graph that Inductor compiled, in the order of the run."""
    compilations = {compilation.compile_id: compilation for compilation in report.compilations}
    nodes: dict[str, tuple[GraphNode, ...]] = {}
    for artifact in report.artifacts:
        compilation = compilations.get(artifact.compile_id or "")
        if compilation is None or artifact.name not in ("inductor_post_grad_graph", "inductor_output_code"):
            continue
        text = artifact.payload.text()
        if text is None:
            continue
        if artifact.name == "inductor_post_grad_graph":
            nodes[compilation.compile_id] = parse_graph(text)
        elif compilation.compile_id in nodes:
            yield CompiledGraph(compilation, nodes.pop(compilation.compile_id), text)
