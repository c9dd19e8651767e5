"""SECURITY.md: each promise names the tests that hold it, and they exist."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
PAGE = (TESTS.parent / "SECURITY.md").read_text(encoding="utf-8")
PROMISES, TABLE = PAGE.split("| promise | held by |")
ROWS = [
    line.strip("| ").split(" | ") for line in TABLE.splitlines() if line.startswith("| ") and "| held by |" not in line
]
# what these say cannot be tested, or is no promise
ABOUT = ("available on", "enforced by", "No kind prevents")
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


def promises() -> list[str]:
    """The first words of the rows of the tables of the sandbox and the budget, and of paragraphs with a bold beginning."""
    sections = [part for part in PROMISES.split("\n## ") if part.startswith(("The sandbox", "The budget"))]
    rows = [
        line.strip("| ").split(" | ")[0] for part in sections for line in part.splitlines() if line.startswith("| ")
    ]
    bold = re.findall(r"^(?:- )?\*\*([^*]+)\*\*", PROMISES, re.MULTILINE)
    return [words.rstrip(",:") for words in (*rows, *bold) if words.strip("| ") and not words.startswith(ABOUT)]


def test_no_promise_is_without_a_test() -> None:
    held = {row[0] for row in ROWS}
    found = [words for words in promises() if not words.startswith(("`overlay`", "default"))]
    assert len(found) > 30
    assert [words for words in found if words not in held] == []


def test_the_table_is_read() -> None:
    assert len(ROWS) > 20
    assert is_missing("test_security_page.py", "test_that_is_not_there")
    assert is_missing("hostile/programs/not_there.py", "")
