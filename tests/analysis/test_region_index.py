"""Calls of torch.compile lead to their regions, with columns and without them (Python 3.10)."""

from __future__ import annotations

import pytest

from compile_lens.analysis.region_index import RegionIndex
from compile_lens.syntax.regions import find_regions
from compile_lens.syntax.tree import parse
from compile_lens.trace.report import CompileReport, RegionCall

FILE = "/project/train.py"
STACKED = """\
import torch

@registered
@torch.compile
def first(x):
    return x

class Step:
    @classmethod
    @torch.compile
    def made(cls, x):
        return x

    @torch.compile
    @staticmethod
    def plain(x):
        return x
"""
NESTED = "import torch\ntorch.compile(torch.compile(lambda x: x + 1))(torch.ones(3))\n"


def index(text: str, *called: tuple[int, int | None]) -> RegionIndex:
    calls = tuple(RegionCall(number, FILE, line, "name", column=column) for number, (line, column) in enumerate(called))
    return RegionIndex(CompileReport(regions=calls), FILE, parse(text))


# as `sys._getframe(1).f_lineno` has it in a decorator: Python 3.11 and later, then 3.10
@pytest.mark.parametrize(("lines", "has_columns"), [([4, 10, 14], True), ([5, 11, 16], False)])
def test_a_decorator_below_others(lines: list[int], has_columns: bool) -> None:
    regions = find_regions(STACKED)
    columns = [region.column if has_columns else None for region in regions]
    found = index(STACKED, *zip(lines, columns, strict=True))
    assert [found.of_call(number) for number in range(3)] == list(regions)


def test_two_calls_in_one_line() -> None:
    outer, inner = find_regions(NESTED)
    known = index(NESTED, (2, outer.column), (2, inner.column))
    assert {known.of_call(0), known.of_call(1)} == {outer, inner}
    assert not known.may_be_called(outer) and not known.may_be_called(inner)
    unknown = index(NESTED, (2, None))
    assert unknown.may_be_called(outer) and unknown.may_be_called(inner)
