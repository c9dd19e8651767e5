"""Changes of objects that Dynamo replays: those that say what changes."""

from __future__ import annotations

from compile_lens.analysis.region_index import RegionIndex
from compile_lens.analysis.run_context import RunContext
from compile_lens.analysis.side_effects import find_side_effects
from compile_lens.analysis.sources import Sources
from compile_lens.syntax.tree import parse
from compile_lens.trace.report import CompileReport, SideEffect, StackFrame

FILE = "/p/model.py"
TEXT = """\
def forward(self, x):
    self.steps += 1
    b, n = x.shape
    return [x[i, :n] for i in range(b)]
def counting():
    count = 0
    def counted(x):
        nonlocal count
        count += 1
        return x * count
    return counted
"""


def messages(*effects: SideEffect) -> list[str]:
    tree = parse(TEXT)
    report = CompileReport(side_effects=effects)
    sources = Sources(FILE, lambda file: tree if file == FILE else None)
    context = RunContext(report, sources, RegionIndex(report, FILE, tree))
    return [finding.message for finding in find_side_effects(context)]


def effect(kind: str, source: str, line: int) -> SideEffect:
    return SideEffect("[0/0]", kind, source, (StackFrame(FILE, line, "forward"),))


def test_a_cell_that_torch_cannot_name_is_none() -> None:
    """torch 2.11, for a variable that a comprehension uses."""
    found = messages(effect("<unknown type>", "unknown", 3), effect("Net", "L['self']", 2))
    assert found == [
        "Side effect: this line changes `self` (a `Net`); Dynamo replays the change after the graph has run."
    ]


def test_a_variable_that_a_call_makes_is_none() -> None:
    """torch 2.13, for a variable that a comprehension uses where it is no function of its own yet (before Python 3.12)."""
    found = messages(effect("cell", "n", 3), effect("cell", "count", 9))
    assert found == [
        "Side effect: this line changes `count`, a variable of a function around this one; Dynamo replays the change after the"
        " graph has run."
    ]
