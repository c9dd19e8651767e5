"""The evidence of a wrong value: what is said of an element is true of that element."""

from __future__ import annotations

import pytest

from compile_lens.agent.compare.numbers import difference
from compile_lens.analysis.wrong_numbers import relative_error

pytestmark = pytest.mark.xdist_group("torch-in-this-process")


@pytest.mark.parametrize(
    ("eager", "compiled", "said"),
    [
        # the second element is off by more of its own size, and is not the one that is shown
        ([100.0, 0.001], [110.0, 0.002], ": a relative error of 0.1"),
        ([0.0, 1.0], [5.0, 1.0], ""),
        ([1.0, 1.0], [float("nan"), 1.0], ""),
    ],
)
def test_a_relative_error_is_that_of_the_worst_element(eager: list[float], compiled: list[float], said: str) -> None:
    import torch

    facts = difference(torch.tensor(eager, dtype=torch.float64), torch.tensor(compiled, dtype=torch.float64), None)
    assert facts["worst_at"] == [0]
    assert relative_error(facts) == said
