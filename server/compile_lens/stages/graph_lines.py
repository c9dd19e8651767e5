"""Reads which line of the user's each line of a printed graph comes from, and each of its nodes.

The form is that of ``print_readable`` (torch/fx/graph.py, torch 2.6 to 2.13): a comment names a place, and holds for the nodes below it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from compile_lens.stages.model import SourceSpan
from compile_lens.trace.graph_text import LINE, NO_LINE

NODE = re.compile(r'^\s*(?P<name>\w+)(?: ?: (?:"(?P<type>[^"]*)"|[\w.]+))? = (?P<expression>.+?)(?:;  .*)?$')
TARGET = re.compile(r"^(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*(?=\()")
# a name that may be a value: no attribute (the `add` of `torch.ops.aten.add`) and no keyword (`dim = 1`)
WORD = re.compile(r"(?<![\w.])[A-Za-z_]\w*\b(?!\s*=(?!=))")
# a graph of its own inside of another (a branch of `torch.cond`) is a class inside of the class
CLASS = re.compile(r"^(?P<indent>\s*)class (?P<name>\w+)\(torch\.nn\.Module\)")
INPUT = re.compile(r'(?<!\w)(?P<name>\w+): "(?P<type>[^"]*)"')


@dataclass(frozen=True, slots=True)
class PrintedNode:
    """A node of a printed graph. ``type`` is torch's (``f32[4, 8][8, 1]cpu``), ``target`` what it calls, '' for inputs."""

    name: str
    line: int
    type: str = ""
    target: str = ""
    operands: tuple[str, ...] = ()
    span: SourceSpan | None = None


@dataclass(frozen=True, slots=True)
class PrintedGraph:
    """What a printed graph tells: its nodes by name, and the place that each of its lines comes from."""

    nodes: Mapping[str, PrintedNode]
    lines: Mapping[int, SourceSpan]


NO_GRAPH = PrintedGraph({}, {})


@lru_cache(maxsize=32)
def read_graph(text: str) -> PrintedGraph:
    """Read a printed graph; of a node that is in several graphs of the text, the last one, which is the outermost."""
    nodes: dict[str, PrintedNode] = {}
    lines: dict[int, SourceSpan] = {}
    span: SourceSpan | None = None
    in_signature = False
    for number, content in enumerate(text.split("\n"), 1):
        stripped = content.lstrip()
        if stripped.startswith("#"):
            if located := LINE.match(content):
                span = lines[number] = SourceSpan(located["file"], int(located["line"]))
            elif NO_LINE.match(content):
                span = None
            continue
        if CLASS.match(content):
            span = None
        if stripped.startswith("def forward("):
            in_signature, span = True, None
        if in_signature:
            for given in INPUT.finditer(content):
                nodes[given["name"]] = PrintedNode(given["name"], number, given["type"])
            in_signature = not content.rstrip().endswith("):")
            continue
        node = NODE.match(content)
        if node is not None:
            target = TARGET.match(node["expression"])
            operands = dict.fromkeys(word for word in WORD.findall(node["expression"]) if word in nodes)
            nodes[node["name"]] = PrintedNode(
                node["name"], number, node["type"] or "", target[0] if target else "", tuple(operands), span
            )
            if span is not None:
                lines[number] = span
    return PrintedGraph(nodes, lines)
