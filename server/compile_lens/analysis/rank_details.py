"""What one rank of a job did in each compilation, in a form that can be compared with other ranks: graph, guards, caches, collectives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from compile_lens.late_pattern import pattern
from compile_lens.trace.graph_text import parse_graph
from compile_lens.trace.records import read_json
from compile_lens.trace.report import Artifact, CompileReport, StackFrame

GRAPH, GUARDS = "dynamo_output_graph", "dynamo_cpp_guards_str"
# what Inductor runs, in its order (torch/_inductor/debug.py, torch 2.9 to 2.13)
SCHEDULE = "inductor_collective_schedule"
# torch/_inductor/compile_fx.py, torch/_functorch/_aot_autograd/autograd_cache.py
CACHE = pattern(r"^(?P<cache>fx_graph|aotautograd)_cache_(?P<outcome>hit|miss|bypass)$")
# operators of torch/distributed/_functional_collectives.py, and functions of torch.distributed that Dynamo puts into a graph
COLLECTIVE = pattern(
    r"_c10d_functional\.(?P<operator>\w+)|\b(?P<function>all_reduce|all_gather\w*|reduce_scatter\w*|all_to_all\w*|broadcast)\b"
)
# they wait for one that was started
WAITS = frozenset({"wait_tensor"})
# what differs between processes or devices and means nothing: addresses and ids, the device of the rank, where a line of torch is
MEANINGLESS = (
    (pattern(r"\b0x[0-9a-f]+\b|\b\d{7,}\b"), "…"),
    (pattern(r"\b(cuda|xpu|hpu|npu|mps):\d+"), r"\1"),
    (pattern(r"\bdevice=\d+\b"), "device=…"),
    (pattern(r'\bfile "[^"]*"'), "file …"),
    (pattern(r"(?<!\s)(?:\s+#.*$|\s*\(HINT:.*$)"), ""),
)
GUARD = pattern(r"^[|\s]*\+- (?P<kind>[A-Z_]+): (?P<text>.+)$")
# guards on the process rather than on what the user passes
AMBIENT = frozenset(
    {"GLOBAL_STATE", "TORCH_FUNCTION_MODE_STACK", "DEFAULT_DEVICE", "SHAPE_ENV", "ID_MATCH", "TYPE_MATCH"}
)
KIND_OF_OPTION = pattern(r"^\S+ ids == None$")


@dataclass(frozen=True, slots=True)
class Collective:
    """A collective that compiled code calls: the operator, its compile id, and the line that calls it, often in torch."""

    name: str
    compile_id: str
    frame: StackFrame | None = field(default=None, compare=False)


class RankDetails:
    """Reads them from the payloads of a report when they are asked for."""

    def __init__(self, report: CompileReport) -> None:
        self._by_id: dict[str, list[Artifact]] = {}
        self._guards = {c.compile_id: c.guards for c in report.compilations if c.guards is not None}
        self._order = [compilation.compile_id for compilation in report.compilations]
        for artifact in report.artifacts:
            if artifact.compile_id is not None and (artifact.name in (GRAPH, SCHEDULE) or CACHE.match(artifact.name)):
                self._by_id.setdefault(artifact.compile_id, []).append(artifact)

    def graph(self, compile_id: str) -> tuple[str, ...]:
        """The lines of its graph that mean the same on every rank; empty if there is none."""
        text = self._text(compile_id, GRAPH)
        lines = (plain(line) for line in text.splitlines())
        return tuple(line for line in lines if line and not line.startswith("#"))

    def guards(self, compile_id: str) -> frozenset[str]:
        """Its guards on what the user passes."""
        payload = self._guards.get(compile_id)
        found = (GUARD.match(line) for line in ((payload.text() if payload else None) or "").splitlines())
        texts = (plain(match["text"]) for match in found if match and match["kind"] not in AMBIENT)
        return frozenset(text for text in texts if not KIND_OF_OPTION.match(text))

    def caches(self, compile_id: str) -> tuple[tuple[str, str], ...]:
        """The outcomes of torch's caches: ``("fx_graph", "hit")``."""
        found = (CACHE.match(artifact.name) for artifact in self._by_id.get(compile_id, ()))
        return tuple((match["cache"], match["outcome"]) for match in found if match)

    def collectives(self) -> Iterator[Collective]:
        """The collectives of all graphs, in order."""
        for compile_id in dict.fromkeys(self._order):
            yield from self.collectives_of(compile_id)

    def collectives_of(self, compile_id: str) -> list[Collective]:
        """The collectives of one graph: as Inductor has scheduled them, else as they were traced."""
        text = self._text(compile_id, GRAPH)
        traced = []
        if COLLECTIVE.search(text):
            for node in parse_graph(text):
                found = COLLECTIVE.search(node.target or node.expression)
                name = (found["operator"] or found["function"]) if found else ""
                if name and name not in WAITS:
                    function = node.source.partition(":")[0]
                    frame = StackFrame(node.file, node.line, function) if node.file and node.line else None
                    traced.append(Collective(name, compile_id, frame))
        scheduled = self._scheduled(compile_id)
        if not scheduled:
            return traced
        frames = {one.name: one.frame for one in traced}
        return [Collective(name, compile_id, frames.get(name)) for name in scheduled]

    def _scheduled(self, compile_id: str) -> list[str]:
        names = read_json(self._text(compile_id, SCHEDULE))
        found = (COLLECTIVE.search(str(name)) for name in names) if isinstance(names, list) else ()
        return [match["operator"] or match["function"] for match in found if match]

    def _text(self, compile_id: str, name: str) -> str:
        """The payload of the last attempt."""
        for artifact in reversed(self._by_id.get(compile_id, [])):
            if artifact.name == name:
                return artifact.payload.text() or ""
        return ""


def plain(line: str) -> str:
    """``line`` without what differs from process to process."""
    for form, replacement in MEANINGLESS:
        line = form.sub(replacement, line)
    return line.strip()
