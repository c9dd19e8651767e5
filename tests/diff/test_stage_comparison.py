"""Comparing stages of real traces: the same compilation is no change, a recompilation for other sizes is one."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

from compile_lens.diff.stage_comparison import compare_pass, compare_stages
from compile_lens.stages.model import Graph, StageKind
from compile_lens.stages.opened import OpenedStages, read_stages
from compile_lens.trace.files import trace_files

SINGLE = Path(__file__).parents[1] / "data" / "h200-single"


@cache
def single() -> OpenedStages:
    (trace,) = trace_files(SINGLE)
    return read_stages(trace)


def only(*names: str) -> OpenedStages:
    graphs: list[Graph] = [graph for name in names if (graph := single().graph(name)) is not None]
    assert len(graphs) == len(names)
    return OpenedStages(tuple(graphs), single().torch)


def test_a_trace_and_itself_do_not_differ() -> None:
    comparison = compare_stages(("a", single()), ("b", single()))
    assert len(comparison.graphs) == len(single().graphs)
    assert not comparison.is_changed
    before, after = comparison.figures
    assert before == after
    assert before.kernels > 50


def test_a_recompilation_differs_where_its_sizes_do() -> None:
    comparison = compare_stages(("first", only("1_0/forward")), ("again", only("1_1/forward")))
    (change,) = comparison.graphs
    assert change.before is not None and change.after is not None
    assert change.is_changed
    assert (change.new_kernels, change.gone_kernels) == ((), ())
    graph = next(stage for stage in change.stages if stage.kind is StageKind.FORWARD)
    assert graph.count("+") and graph.count("-")
    shown = [line.text for hunk in graph.hunks for line in hunk.lines if line.sign == "+"]
    assert all(line in graph.after.text.split("\n") for line in shown if graph.after is not None)


def test_a_graph_of_one_side_alone() -> None:
    comparison = compare_stages(("a", only("1_0/forward", "1_0/backward")), ("b", only("1_0/forward", "5_0/inference")))
    sides = [(change.before and change.before.id, change.after and change.after.id) for change in comparison.graphs]
    assert sides == [("1_0/forward", "1_0/forward"), (None, "5_0/inference"), ("1_0/backward", None)]
    gone = comparison.graphs[2]
    assert gone.is_changed
    assert len(gone.gone_kernels) == len(gone.before.kernels if gone.before is not None else ())


def test_compile_ids_of_another_run_are_no_change() -> None:
    renamed = tuple(replace(graph, compile_id=f"7{graph.compile_id}") for graph in only("5_0/inference").graphs)
    comparison = compare_stages(("a", only("5_0/inference")), ("b", OpenedStages(renamed)))
    assert [change.is_changed for change in comparison.graphs] == [False]


def test_before_and_after_the_passes_of_one_graph() -> None:
    graph = single().graph("1_0/forward")
    assert graph is not None
    change = compare_pass(graph, StageKind.POST_GRAD_BEFORE, StageKind.POST_GRAD)
    assert change is not None
    assert any("mm_default" in line.text for hunk in change.hunks for line in hunk.lines if line.sign == "+")
    assert compare_pass(graph, StageKind.POST_GRAD, StageKind.PTX) is None
