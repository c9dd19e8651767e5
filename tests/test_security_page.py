"""SECURITY.md: each promise names the tests that hold it, and they exist."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
PAGE = (TESTS.parent / "SECURITY.md").read_text(encoding="utf-8")
TABLE = PAGE.partition("| promise | held by |")[2]
ROWS = [line.strip("| ").split(" | ") for line in TABLE.splitlines() if line.startswith("| ")]
REFERENCE = re.compile(r"`([\w/]+\.py)(?:::([\w:]+))?`")


@cache
def names_in(file: Path) -> frozenset[str]:
    """The names of functions, also those of classes."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))


def is_missing(file: str, name: str) -> bool:
    """Whether there is no such test: a function of a module, or a hostile program, which is a test by itself."""
    path = TESTS / file
    if not path.is_file():
        return True
    return name.rpartition("::")[2] not in names_in(path) if name else path.parent.name != "programs"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:60])
def test_a_promise_names_tests_that_exist(row: list[str]) -> None:
    promise, held_by = row
    found = REFERENCE.findall(held_by)
    assert promise and found, "no test is named"
    # nothing stands there but references
    assert REFERENCE.sub("", held_by).strip(" ,") == ""
    assert [f"{file}::{name}" for file, name in found if is_missing(file, name)] == []


def test_the_table_is_read() -> None:
    assert len(ROWS) > 20
    assert is_missing("test_security_page.py", "test_that_is_not_there")
    assert is_missing("hostile/programs/not_there.py", "")
