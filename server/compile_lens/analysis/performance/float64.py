"""Finds where float64 enters a graph with other inputs: a NumPy scalar, a default dtype, a ``.double()``.

A line that itself converts what it has made, as ``np.eye(3).astype(np.float32)`` does, is none. On a GPU float64 runs at a fraction of
float32's speed, and everything computed from it is float64, too.
"""

from __future__ import annotations

from collections.abc import Iterator

from compile_lens.analysis.finding import Finding, Kind, Place, Severity
from compile_lens.analysis.run_context import RunContext
from compile_lens.trace.graph_text import GraphNode, parse_graph

CODE = "float64"
FLOAT64 = "f64"
DECLARED = f'"{FLOAT64}['


def find_float64(context: RunContext) -> Iterator[Finding]:
    """One finding per line of the user's where float64 tensors begin."""
    report, sources = context.report, context.sources
    groups: dict[tuple[Place, bool], list[str]] = {}
    for artifact in report.artifacts:
        if artifact.name != "dynamo_output_graph":
            continue
        text = artifact.payload.text()
        # most graphs have none, and reading the nodes of all takes long
        for node, converts in _origins(parse_graph(text)) if text and DECLARED in text else ():
            if node.file is not None and node.line is not None and sources.is_own(node.file):
                place = sources.line_in_graph(node.file, node.line)
                groups.setdefault((place, converts), []).append(artifact.compile_id or "-")
    for (place, converts), frames in groups.items():
        yield Finding(
            code=CODE,
            kind=Kind.PERFORMANCE,
            severity=Severity.INFORMATION,
            message=f"This line creates float64 tensors{' from operands of other dtypes' if converts else ''}.",
            place=place,
            explanation="Everything computed from them is float64, too, which is much slower than float32 on a GPU.",
            hints=("Convert here if float64 is not intended: `.float()`, `dtype=torch.float32`.",),
            count=len(frames),
            frames=tuple(dict.fromkeys(frames)),
        )


def _origins(nodes: tuple[GraphNode, ...]) -> Iterator[tuple[GraphNode, bool]]:
    """The nodes with dimensions that are float64 while none of their operands with dimensions is, and whether there are such operands."""
    known = {node.name: node for node in nodes}
    users: dict[str, list[GraphNode]] = {}
    for node in nodes:
        for name in node.operands:
            users.setdefault(name, []).append(node)
    for node in nodes:
        if node.dtype == FLOAT64 and not node.is_scalar and node.line is not None:
            operands = [known[name] for name in node.operands]
            tensors = [operand for operand in operands if not operand.is_scalar]
            if not any(operand.dtype == FLOAT64 for operand in tensors) and _leaves_its_line(node, users):
                yield node, bool(tensors)


def _leaves_its_line(origin: GraphNode, users: dict[str, list[GraphNode]]) -> bool:
    """Whether another line gets float64 of it, or the graph returns such: nothing uses that."""
    left, seen = [origin], {origin.name}
    while left:
        node = left.pop()
        using = users.get(node.name, [])
        if not using or any((user.file, user.line) != (origin.file, origin.line) for user in using):
            return True
        new = [user for user in using if user.dtype == FLOAT64 and user.name not in seen]
        seen.update(user.name for user in new)
        left.extend(new)
    return False
