"""docs/compatibility.md is what the results of ``make compat`` say, and each failure there was looked at."""

from __future__ import annotations

from tests.compat.differences import DIFFERENCES, explanation, unexplained
from tests.compat.page import PAGE, render
from tests.compat.results import load


def test_the_page_is_made_of_the_results() -> None:
    assert PAGE.read_text(encoding="utf-8") == render(load()), "run `python -m tests.compat --page`"


def test_all_that_came_out_otherwise_is_explained() -> None:
    assert {(r.torch, r.python): unexplained(r) for r in load() if unexplained(r)} == {}


def test_no_explanation_is_left_over() -> None:
    met = {explanation(result, each) for result in load() for check in result.checks for each in check.deviations}
    assert [row for row in DIFFERENCES if row not in met] == []
