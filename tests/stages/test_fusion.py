"""Which nodes of the schedule each call of a kernel computes."""

from __future__ import annotations

from compile_lens.stages.fusion import Schedule, ScheduledNode, nodes_of_kernels


def node(name: str, buffer: str, origin: str) -> ScheduledNode:
    return ScheduledNode(name, (name,), frozenset({buffer}), (origin,), {}, {}, {})


SCHEDULE = Schedule((node("op0", "buf0", "zeros"), node("op1", "buf1", "index_add"), node("op2", "buf2", "cumsum")))
CALLS = [frozenset({"fill", "buf0", "x"}), frozenset({"cumsum", "buf2", "buf0"})]


def names(origins: list[frozenset[str]]) -> list[list[str]]:
    return [[one.name for one in found] for found in nodes_of_kernels(SCHEDULE, CALLS, origins)]


def test_a_change_in_place_goes_with_the_call_that_torch_has_for_it() -> None:
    assert names([frozenset({"zeros", "index_add"}), frozenset({"cumsum"})]) == [["op0", "op1"], ["op2"]]


def test_without_torch_s_word_it_goes_with_the_next() -> None:
    assert names([frozenset(), frozenset()]) == [["op0"], ["op1", "op2"]]
