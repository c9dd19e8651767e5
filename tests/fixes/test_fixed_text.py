"""What no fix may do to a text: break its syntax, or touch other lines."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compile_lens.analysis.finding import Finding, Kind, Place, Severity
from compile_lens.analysis.finding_counts import FindingCounts
from compile_lens.fixes.fix import Fix, apply_fix
from compile_lens.fixes.offer import fixes_for
from compile_lens.fixes.repair import Repaired
from compile_lens.syntax.tree import parse
from warm_host import WarmHost, one_worker_each

FIXTURES = sorted((Path(__file__).parents[1] / "fixtures").glob("[!_]*.py"))


def _fixes(text: str, findings: tuple[Finding, ...]) -> list[Fix]:
    tree = parse(text)
    return [fix for finding in findings for fix in fixes_for(finding, tree)]


@pytest.mark.parametrize("file", one_worker_each(FIXTURES))
def test_no_fix_breaks_the_syntax_or_touches_other_lines(file: Path, warm_host: WarmHost) -> None:
    text = file.read_text(encoding="utf-8")
    try:
        ast.parse(text)
    except SyntaxError:
        return
    findings = tuple(f for f in warm_host.analyze_fixture(file).outcome.findings if f.place.file == str(file))
    for fix in _fixes(text, findings):
        check_text(text, fix)
        windows = text.replace("\n", "\r\n")
        for other in _fixes(windows, findings):
            changed = apply_fix(windows, other)
            assert "\n" not in changed.replace("\r\n", ""), other.rule
            check_syntax(changed, other)


def check_syntax(changed: str, fix: Fix) -> None:
    try:
        ast.parse(changed)
    except SyntaxError as problem:
        raise AssertionError(f"{fix.rule}: {problem}\n{changed}") from None


def check_text(text: str, fix: Fix) -> None:
    changed = apply_fix(text, fix)
    check_syntax(changed, fix)
    assert changed != text
    touched = {line for edit in fix.edits for line in range(edit.place.line, edit.place.end_line + 1)}
    kept = [line for number, line in enumerate(text.split("\n"), 1) if number not in touched]
    left = iter(changed.split("\n"))
    assert all(line in left for line in kept), fix.rule


PIECES = st.sampled_from(
    [
        "x = x + 1",
        "print(x)",
        "if x.sum() > 0:\n    x = x.sin()",
        "y = x.sum().item()",
        "return x * 2",
        "x = x if x.any() else x + 1",
        "for _ in range(2):\n    print(x)",
        "self.n += 1",
        "# a comment",
        '"""text\nmore"""',
        "x = (\n    x.max().item()\n    + 1\n)",
        "print(x); x = x * 2",
    ]
)


@settings(max_examples=20)
@given(
    st.lists(PIECES, min_size=1, max_size=5),
    st.sampled_from(["    ", "\t", "  "]),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_at_any_expression_of_any_program_the_syntax_stays(
    pieces: list[str], indent: str, end: str, imported: bool
) -> None:
    lines = [f"{indent}{line}" for piece in pieces for line in piece.split("\n")]
    text = end.join(
        [
            *(["import torch", ""] if imported else ["from torch import compile", ""]),
            "@torch.compile",
            "def f(self, x):",
            *lines,
            f"{indent}return x",
            "",
            "f(1, 2)",
            "",
        ]
    )
    ast.parse(text)
    detail = (
        "[0/1] against 0/0: tensor 'x' size mismatch at index 0. expected 3, actual 4\n[0/2] against 0/1: self.n == 1"
    )
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.expr):
            continue
        assert node.end_lineno is not None and node.end_col_offset is not None
        place = Place("p.py", node.lineno, node.col_offset + 1, node.end_lineno, node.end_col_offset + 1)
        for kind in (Kind.GRAPH_BREAK, Kind.RECOMPILE, Kind.RECOMPILE_LIMIT):
            finding = Finding(
                "GB0001", kind, Severity.WARNING, "m", place, hints=("capture_scalar_outputs",), detail=detail
            )
            for fix in _fixes(text, (finding,)):
                ast.parse(apply_fix(text, fix))


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("a folder/model.py", "a folder/model.py"),
        ("x.py\n--- a/other.py\n+++ b/other.py", r'"PLACEx.py\012--- a/other.py\012+++ b/other.py"'),
        ("other.py\tx.py", r'"PLACEother.py\011x.py"'),
        ('a"b\\c', r'"PLACEa\042b\134c"'),
    ],
)
def test_no_name_makes_lines_of_a_diff(name: str, written: str) -> None:
    none = FindingCounts()
    diff = Repaired("a\n", "b\n", (), (), (none, none)).diff(name).splitlines()
    before, after = (written.replace("PLACE", f"{side}/") for side in "ab")
    before, after = (
        text if written.startswith('"') else f"{side}/{text}" for side, text in (("a", before), ("b", after))
    )
    assert diff == [f"--- {before}", f"+++ {after}", "@@ -1 +1 @@", "-a", "+b"]
