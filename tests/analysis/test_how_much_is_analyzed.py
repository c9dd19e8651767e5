"""How much of a file made-up calls are about, and when "everything" may be said."""

from __future__ import annotations

import io
from contextlib import redirect_stdout

import msgspec
import pytest

from compile_lens.analysis.coverage import Coverage, NotCalled, measure
from compile_lens.analysis.outcome import Outcome, PassedOver, Status
from compile_lens.cli.screen import PlainScreen
from compile_lens.cli.text_output import TextOutput
from compile_lens.syntax.tree import parse

FILE = """\
import torch
from torch import nn


class Part(nn.Module):
    def forward(self, x):
        return x + 1


class Whole(nn.Module):
    def __init__(self, table):
        super().__init__()
        self.part = table["part"]

    def forward(self, tokens):
        return self.part(tokens)


def loss(x: torch.Tensor) -> torch.Tensor:
    return x.mean()
"""
LINES = (7, 12, 13, 16, 20)
EVERYTHING = "Everything compiled without a graph break or a recompile."
DRAFT = NotCalled("Whole", "its constructor failed: KeyError: 'part'", "Whole(table=64)(tokens=int64[2, 16] < 100)")


def coverage(names: tuple[str, ...], ran: tuple[int, ...], *not_called: NotCalled) -> Coverage:
    found = measure(parse(FILE), names, ran, LINES, not_called)
    assert found is not None
    return found


def printed(outcome: Outcome, verbose: bool = False) -> str:
    out = io.StringIO()
    with redirect_stdout(out):
        TextOutput(PlainScreen(), lambda *_: "", quiet=False, verbose=verbose).show(outcome)
    return out.getvalue()


def outcome(of: Coverage | None, passed: tuple[PassedOver, ...] = ()) -> Outcome:
    return Outcome(
        "m.py", "", "2.13.0", "dynamo", "synthesized", Status.OK, 1.0, graphs=1, coverage=of, passed_over=passed
    )


def test_modules_functions_and_lines() -> None:
    found = coverage(("Part",), (7,), DRAFT)
    assert found.sentence == "1 of 2 modules and 0 of 1 function, 20% of their lines"
    assert [(unit.name, unit.reason) for unit in found.missing] == [
        ("Whole", DRAFT.reason),
        ("loss", "no call reaches it"),
    ]
    cut = measure(parse(FILE), (), (), LINES, (), is_cut_short=True)
    assert cut is not None
    assert {unit.reason for unit in cut.units} == {"no time was left for it"}
    assert measure(parse("x = 1\n"), (), (), (), ()) is None


def test_everything_is_said_only_of_a_whole() -> None:
    part = printed(outcome(coverage(("Part",), (7,), DRAFT)))
    assert EVERYTHING not in part
    assert "No graph break and no recompile in what was analyzed." in part
    assert "Not analyzed: `Whole` (its constructor failed: KeyError: 'part')" in part
    assert "Complete this call: --entry 'Whole(table=64)(tokens=int64[2, 16] < 100)'" in part
    assert EVERYTHING in printed(outcome(coverage(("Part", "Whole", "loss"), LINES)))
    assert EVERYTHING in printed(outcome(None))
    of_script = msgspec.structs.replace(outcome(None), entry="model")
    assert "Everything that was called compiled without a graph break" in printed(of_script)
    assert EVERYTHING not in printed(of_script)


@pytest.mark.parametrize("verbose", [False, True])
def test_tests_that_were_tried_are_counted_and_named_on_request(verbose: bool) -> None:
    names = [f"tests/test_m.py::test_{number}" for number in range(3)]
    passed = tuple(PassedOver(name, f"`{name}`", "It compiled nothing.") for name in names)
    text = printed(outcome(None, passed), verbose)
    assert ("3 tests that import this file (names: -v). It compiled nothing." in text) is not verbose
    assert all((name in text) is verbose for name in names)
