"""Predictions as findings, and when a run replaces them."""

from __future__ import annotations

import pytest

from compile_lens.analysis.finding import Kind, Place, RegionSummary, Severity
from compile_lens.analysis.predictions import find_predictions, still_predicted
from compile_lens.syntax.predictions import registry

SOURCE = """\
import torch

def helper(x):
    print(x)
    return x

@torch.compile
def one(x):
    return helper(x)

@torch.compile
def two(x):
    breakpoint()
    return helper(x)
"""


def summary(name: str, line: int, *frames: str) -> RegionSummary:
    return RegionSummary(name, Place("a.py", line, 1, line, 15), frames=frames)


def test_a_prediction_says_that_it_is_one() -> None:
    finding = find_predictions("a.py", SOURCE, "2.9.0", registry.ALL)[0]
    assert (finding.kind, finding.severity, finding.code) == (Kind.PREDICTION, Severity.HINT, "GB0059")
    assert finding.message.startswith("Predicted graph break: ")
    assert finding.place == Place("a.py", 4, 5, 4, 13)
    assert "without a run" in finding.explanation and "A run replaces the prediction" in finding.explanation
    assert "torch 2.13" in finding.explanation and "torch 2.9.0" in finding.explanation
    assert "`one`, `two`" in finding.explanation


@pytest.mark.parametrize(
    ("regions", "lines"),
    [
        ((), [4, 13]),
        ((summary("one", 7), summary("two", 11)), [4, 13]),
        ((summary("one", 7, "0/0"), summary("two", 11)), [13]),
        ((summary("one", 7, "0/0"), summary("two", 11, "1/0")), []),
    ],
)
def test_a_region_that_was_compiled_has_told_the_truth(regions: tuple[RegionSummary, ...], lines: list[int]) -> None:
    found = still_predicted(find_predictions("a.py", SOURCE, rules=registry.ALL), regions)
    assert [finding.place.line for finding in found] == lines
