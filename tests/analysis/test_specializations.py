"""The sizes that one line fixes are one finding, with all of their values."""

from __future__ import annotations

from compile_lens.analysis.finding import Finding
from compile_lens.analysis.region_index import RegionIndex
from compile_lens.analysis.run_context import RunContext
from compile_lens.analysis.sources import Sources
from compile_lens.analysis.specializations import find_specializations
from compile_lens.trace.report import CompileReport, Specialization, StackFrame

FILE = "/w/a.py"


def found(*fixed: tuple[str, str, int]) -> list[Finding]:
    """The findings for sources, values and lines."""
    report = CompileReport(
        specializations=tuple(
            Specialization(f"{number}/0", (source,), value, (StackFrame(FILE, line, "f"),))
            for number, (source, value, line) in enumerate(fixed)
        )
    )
    context = RunContext(report, Sources(FILE, lambda _: None), RegionIndex(report, FILE, None))
    return list(find_specializations(context))


def test_values_without_a_name_of_their_own_are_counted() -> None:
    kept = [(f"L['___stack{number}'][1]", str(number), 7) for number in range(1, 8)]
    (finding,) = found(*kept)
    assert finding.count == len(kept)
    assert finding.message == (
        "This line specializes a value kept across the graph break to 1, then 2, then 3, then 4 and 3 more:"
        " each other value recompiles."
    )


def test_several_sizes_of_one_line_are_named() -> None:
    (finding,) = found(("L['x'].size()[0]", "3", 7), ("L['y'].size()[1]", "5", 7), ("L['x'].size()[0]", "4", 7))
    assert finding.message == (
        "This line specializes size 0 of `x` to 3, then 4, size 1 of `y` to 5: each other value recompiles."
    )


def test_other_lines_have_their_own() -> None:
    assert len(found(("L['x'].size()[0]", "3", 7), ("L['x'].size()[0]", "3", 8))) == 2
