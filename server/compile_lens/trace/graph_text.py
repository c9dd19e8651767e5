"""Reads a graph that torch printed (``dynamo_output_graph``): its nodes with their dtypes, shapes and lines.

The form is that of ``GraphModule.print_readable(include_stride=True, include_device=True)`` (torch/fx/graph.py, torch 2.6 to 2.13):
a comment with the user's line, then ``name: "f32[4, 8][8, 1]cpu" = expression``.
"""

from __future__ import annotations

from functools import lru_cache

from msgspec import Struct

from compile_lens.late_pattern import pattern

LINE = pattern(
    r"^\s*#(?: .*?)? File: (?P<file>(?:(?! File: ).)+?):(?P<line>\d{1,9}) in (?P<function>[^,\s]+), code: ?(?P<code>.*)$"
)
NODE = pattern(r'^\s*(?P<name>\w+)(?:: "(?P<type>[^"]*)")? = (?P<expression>.+?)(?:;.*)?$')
INPUT = pattern(r'(?<!\w)(?P<name>\w+): "(?P<type>[^"]*)"')
TYPE = pattern(r"^(?P<dtype>\w+)\[(?P<shape>[^\]]*)\](?:\[[^\]]*\])?(?P<device>\w+(?::\d+)?)?")
# before nodes that torch itself has put in
NO_LINE = pattern(r"^\s*#.* No stacktrace found")
# of an expression, what is called
TARGET = pattern(r"^[\w.]+(?=\()")
# a name that may be a value: no attribute (the `add` of `torch.ops.aten.add`) and no keyword (`dim = 1`)
WORD = pattern(r"(?<![\w.])[A-Za-z_]\w*\b(?!\s*=(?!=))")


class GraphNode(Struct, frozen=True):
    """One value of a graph. ``dtype`` is torch's short name (``f32``, ``f64``, ``i64``), '' if it is no tensor; ``shape`` is its text.

    ``file`` and ``line`` are the user's, None for inputs. ``operands`` are the names of the values that it is made from.
    ``device`` is ``cpu``, ``cuda:0``, or '' where it is not told; ``target`` is what is called, '' for inputs. ``source`` is the function
    and the text of the line, '' for inputs.
    """

    name: str
    dtype: str
    shape: str
    operands: tuple[str, ...] = ()
    file: str | None = None
    line: int | None = None
    device: str = ""
    target: str = ""
    expression: str = ""
    source: str = ""

    @property
    def is_scalar(self) -> bool:
        """Whether it is a tensor without dimensions."""
        return not self.shape


@lru_cache(maxsize=64)
def parse_graph(text: str) -> tuple[GraphNode, ...]:
    """The inputs and nodes of a printed graph, in order."""
    nodes: dict[str, GraphNode] = {}
    file: str | None = None
    line: int | None = None
    source = ""
    for content in text.splitlines():
        if content.lstrip().startswith("def forward("):
            for given in INPUT.finditer(content):
                nodes[given["name"]] = _node(given["name"], given["type"])
        elif located := LINE.match(content):
            file, line = located["file"], int(located["line"])
            source = f"{located['function']}: {located['code'].strip()}"
        elif NO_LINE.match(content):
            file, line, source = None, None, ""
        elif match := NODE.match(content):
            operands = tuple(word for word in WORD.findall(match["expression"]) if word in nodes)
            alias = nodes.get(match["expression"].strip())
            if alias is not None:
                nodes[match["name"]] = GraphNode(match["name"], alias.dtype, alias.shape, operands, device=alias.device)
            else:
                nodes[match["name"]] = _node(
                    match["name"], match["type"] or "", operands, file, line, match["expression"], source
                )
    return tuple(nodes.values())


def _node(
    name: str,
    described: str,
    operands: tuple[str, ...] = (),
    file: str | None = None,
    line: int | None = None,
    expression: str = "",
    source: str = "",
) -> GraphNode:
    match = TYPE.match(described)
    target = TARGET.match(expression)
    return GraphNode(
        name=name,
        dtype=match["dtype"] if match else "",
        shape=match["shape"] if match else "",
        operands=operands,
        file=file,
        line=line,
        device=(match["device"] or "") if match else "",
        target=target[0] if target else "",
        expression=expression,
        source=source,
    )
