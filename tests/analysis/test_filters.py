"""Severities, ignore comments and the cap."""

from __future__ import annotations

from compile_lens.analysis.filters import Filtered, Filters, apply
from compile_lens.analysis.finding import Finding, Kind, Place, Severity
from compile_lens.syntax.tree import parse


def finding(line: int, code: str = "GB0059", kind: Kind = Kind.GRAPH_BREAK, weight: float = 0.0) -> Finding:
    return Finding(code, kind, Severity.WARNING, "m", Place("a.py", line, 5, line, 9), weight=weight)


def run(text: str, *findings: Finding, completed: bool = True, **filters: object) -> Filtered:
    return apply(findings, Filters(**filters), "a.py", lambda _: parse(text), completed)  # type: ignore[arg-type]


def test_a_comment_ignores_its_line_and_a_comment_line_the_next_line_of_code() -> None:
    text = "x = 1  # compile-lens: ignore[GB0059] wanted\n# compile-lens: ignore[graph-break]\n# more\n\ny = 2\nz = 3\n"
    left = run(text, finding(1), finding(5), finding(6))
    assert [f.place.line for f in left.findings] == [6]


def test_an_ignore_is_for_the_codes_that_it_names() -> None:
    left = run(
        "x = 1  # compile-lens: ignore[GB0124, recompile]\n", finding(1), finding(1, "recompile", Kind.RECOMPILE)
    )
    assert [f.code for f in left.findings] == ["GB0059"]


def test_an_ignore_that_matches_nothing_is_told_once_the_run_is_over() -> None:
    text = "x = 1\ny = 2  # compile-lens: ignore[GB0059] gone\n"
    assert run(text, completed=False).findings == ()
    (unused,) = run(text).findings
    assert (unused.code, unused.place) == ("unused-ignore", Place("a.py", 2, 8, 2, 38))


def test_a_code_goes_before_its_kind_and_off_hides() -> None:
    severities = {"graph-break": "off", "GB0059": "error"}
    left = run("", finding(1), finding(2, "GB0170"), severities=severities)
    assert [(f.code, f.severity) for f in left.findings] == [("GB0059", Severity.ERROR)]


def test_the_cap_keeps_the_worst_in_the_order_of_the_file() -> None:
    left = run("", *(finding(line, weight=float(line % 3)) for line in range(1, 7)), cap=3)
    assert [f.place.line for f in left.findings] == [1, 2, 5]
    assert left.hidden == {"a.py": 3}
