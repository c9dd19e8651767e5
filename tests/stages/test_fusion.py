"""Which nodes of the schedule each call of a kernel computes."""

from __future__ import annotations

from compile_lens.stages.fusion import Schedule, ScheduledNode, nodes_of_kernels, operations_in


def node(name: str, buffer: str, origin: str) -> ScheduledNode:
    return ScheduledNode(name, (name,), frozenset({buffer}), (origin,), {}, {}, {})


SCHEDULE = Schedule((node("op0", "buf0", "zeros"), node("op1", "buf1", "index_add"), node("op2", "buf2", "cumsum")))
CALLS = [frozenset({"fill", "buf0", "x"}), frozenset({"cumsum", "buf2", "buf0"})]


def names(origins: list[frozenset[str]]) -> list[list[str]]:
    return [[one.name for one in found] for found in nodes_of_kernels([SCHEDULE], CALLS, origins)]


def test_a_change_in_place_goes_with_the_call_that_torch_has_for_it() -> None:
    assert names([frozenset({"zeros", "index_add"}), frozenset({"cumsum"})]) == [["op0", "op1"], ["op2"]]


def test_without_torch_s_word_it_goes_with_the_next() -> None:
    assert names([frozenset(), frozenset()]) == [["op0"], ["op1", "op2"]]


def test_a_call_in_a_branch_goes_with_the_schedule_of_the_branch() -> None:
    """The graph has a node that calls the branch, which is no kernel."""
    outer = Schedule((node("op0", "buf0", "true_graph_0"), node("op1", "buf1", "add")))
    branch = Schedule((node("true_graph_0_op0", "true_graph_0_buf0", "mm"),))
    calls = [frozenset({"true_graph_0_buf0", "true_graph_0_arg0_1"}), frozenset({"buf1", "buf0"})]
    found = nodes_of_kernels([outer, branch], calls, [frozenset(), frozenset()])
    assert [[one.name for one in nodes] for nodes in found] == [["true_graph_0_op0"], ["op1"]]
    assert operations_in("true_graph_0_op1_true_graph_0_op12") == ["true_graph_0_op1", "true_graph_0_op12"]
    assert operations_in("op1_op2_buf3") == ["op1", "op2", "buf3"]
