"""docs/coverage.md says what the fixtures and the corpus show, and each function of the corpus shows what it is named for."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from coverage_table import CODE, FOLDERS, TABLE, produced
from fixture_notation import read

CORPUS = sorted(FOLDERS[0].glob("[!_]*.py"))
ROW = re.compile(r"^\| (GB\d{4}) \| .* \| (.*) \|$", re.MULTILINE)


def test_the_table_has_what_the_programs_show() -> None:
    rows = dict(ROW.findall(TABLE.read_text(encoding="utf-8")))
    in_table = {code: set(where.split(", ")) for code, where in rows.items() if not where.startswith("– ")}
    assert in_table == {code: files for code, files in produced().items() if code in rows}, (
        "python tests/coverage_table.py writes it anew"
    )
    total = re.search(r"\*\*(\d+)\*\* have been produced", TABLE.read_text(encoding="utf-8"))
    assert total is not None and int(total[1]) == len(in_table) >= 150


@pytest.mark.parametrize("file", CORPUS, ids=lambda file: file.stem)
def test_a_function_shows_the_code_that_it_is_named_for(file: Path) -> None:
    program = read(file.read_text(encoding="utf-8"))
    functions = [node for node in ast.parse("\n".join(program.lines)).body if isinstance(node, ast.FunctionDef)]
    tests = {node.name: node for node in functions if re.match(r"gb\d{4}", node.name)}
    inside = {
        name: {f"GB{name[2:6]}" == one.code[-6:] for one in program.expected if _covers(node, one.line)}
        for name, node in tests.items()
    }
    # a break in what a function calls stands there
    called = {one.code[-6:] for one in program.expected if not any(_covers(n, one.line) for n in tests.values())}
    wrong = [name for name, shown in inside.items() if True not in shown and f"GB{name[2:6]}" not in called]
    assert not wrong
    assert all(CODE.search(one.code) for one in program.expected)


def _covers(node: ast.FunctionDef, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or 0)
