"""Runs that stop after Dynamo decide on Python floats as AOTAutograd does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from compile_lens.agent.instrument import depth

pytestmark = pytest.mark.xdist_group("torch-in-this-process")
PROGRAMS: dict[str, tuple[Callable[[Any, float], Any], bool]] = {
    "a scaled loss": (lambda x, factor: x.sin().sum() * factor, True),
    "a difference and a quotient": (lambda x, factor: (x - factor) / factor + factor, True),
    "a float first": (lambda x, factor: factor - x, False),
    "a limit": (lambda x, factor: x.clamp(max=factor), False),
    "a whole number": (lambda x, factor: (x > 0).long() * factor, False),
    "arithmetic of floats": (lambda x, factor: x * (factor * 2), False),
}


def graphs(program: Callable[[Any, float], Any], backend: Callable[..., Any]) -> int:
    """How often ``program`` is compiled for five values."""
    import torch

    count = 0

    def counting(module: Any, inputs: Any) -> Any:
        nonlocal count
        count += 1
        return backend(module, inputs)

    torch.compiler.reset()
    compiled = torch.compile(program, backend=counting)
    for factor in (3.0, 2.0, 4.5, 6.25, 1.5):
        compiled(torch.ones(2, 3, requires_grad=True), factor)
    return count


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_float_recompiles_as_often_as_with_aotautograd(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program, is_known = PROGRAMS[name]
    asked = []
    stop_after_aot = depth._stop_after_aot

    def aot(module: Any, inputs: Any, **options: Any) -> Any:
        asked.append(module)
        return stop_after_aot(module, inputs, **options)

    expected = graphs(program, stop_after_aot)
    monkeypatch.setattr(depth, "_stop_after_aot", aot)
    assert graphs(program, depth._run_graph_eagerly) == expected
    assert bool(asked) != is_known
