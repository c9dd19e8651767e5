"""Printed graphs as nodes, on graphs of real runs."""

from __future__ import annotations

from pathlib import Path

from compile_lens.trace.builder import read_report
from compile_lens.trace.files import trace_files
from compile_lens.trace.graph_text import parse_graph

SINGLE = Path(__file__).parent.parent / "data" / "h200-single"


def test_every_graph_of_a_real_trace_is_read() -> None:
    report = read_report(trace_files(SINGLE)[0])
    ops = {compilation.compile_id: compilation.ops for compilation in report.compilations}
    read = 0
    for artifact in report.artifacts:
        if artifact.name == "dynamo_output_graph":
            nodes = [node for node in parse_graph(artifact.payload.text() or "") if node.line is not None]
            # operators of one expression that torch prints on one line are one node each, unpacked results are not
            assert len(nodes) >= (ops[artifact.compile_id or ""] or 0) * 0.8
            assert all(node.file and node.file.startswith("/cluster/") for node in nodes)
            read += 1
    assert read == 15


def test_types_lines_and_operands() -> None:
    text = """class GraphModule(torch.nn.Module):
    def forward(self, L_x_: "f32[4][1]cpu", s0: "Sym(s0)"):
        l_x_ = L_x_

        # File: /a.py:5 in f, code: t = x.double().sin()
        double: "f64[4][1]cpu" = l_x_.double();  l_x_ = None
        t: "f64[][]cpu" = double.sum();  double = None
        return (t,)
"""
    nodes = {node.name: node for node in parse_graph(text)}
    assert (nodes["l_x_"].dtype, nodes["l_x_"].shape) == ("f32", "4")
    assert (nodes["double"].dtype, nodes["double"].line, nodes["double"].operands) == ("f64", 5, ("l_x_",))
    assert nodes["t"].is_scalar
    assert nodes["s0"].dtype == ""


def test_a_node_that_is_called_as_an_operator_is_no_operand() -> None:
    """``torch.ops.aten.mm.default(a, b)`` has two operands, also after a node of the name ``mm``."""
    text = """class GraphModule(torch.nn.Module):
    def forward(self, a: "f32[4, 8][8, 1]cpu", dim: "f32[8, 4][4, 1]cpu"):
        mm: "f32[4, 4][4, 1]cpu" = torch.ops.aten.mm.default(a, dim)
        mm_1: "f32[4, 4][4, 1]cpu" = torch.ops.aten.mm.default(mm, mm);  mm = None
        sum_1: "f32[4][1]cpu" = torch.ops.aten.sum.dim_IntList(mm_1, dim = [0])
"""
    operands = {node.name: node.operands for node in parse_graph(text)}
    assert operands["mm_1"] == ("mm", "mm")
    assert operands["sum_1"] == ("mm_1",)
