"""How graphs are called in lists of stages."""

from __future__ import annotations

from compile_lens.stages.model import Direction, Graph

WORDS = {Direction.NOT_LOWERED: "captured"}


def title_of(graph: Graph) -> str:
    """``forward [0/0] · backward``: the function, its frame, and the pass."""
    direction = WORDS.get(graph.direction, graph.direction.value)
    return f"{graph.function} [{graph.compile_id}] · {direction}"
