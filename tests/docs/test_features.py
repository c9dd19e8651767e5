"""docs/features.md claims nothing without a test: each "yes" names one that exists, and each that is named is used."""

from __future__ import annotations

import ast
import re

from tests.docs.pages import ROOT

PAGE = (ROOT / "docs" / "features.md").read_text(encoding="utf-8")
NAMED = re.findall(r"^\| ([A-Z]\d+) \| `([^`]+)` \|$", PAGE, re.MULTILINE)
LISTED = dict(NAMED)
ROWS = [[cell.strip() for cell in row.split("|")[2:-1]] for row in PAGE.split("## Tests")[0].splitlines() if "|" in row]


def test_each_claim_names_a_test() -> None:
    claims = [cell for row in ROWS[2:] for cell in row]
    assert len(claims) > 80
    assert len(LISTED) == len(NAMED)
    named = [re.fullmatch(r"(?:yes|LSP) \[([A-Z]\d+)\]|no", claim) for claim in claims]
    assert all(named), [claim for claim, match in zip(claims, named, strict=True) if match is None]
    assert {match[1] for match in named if match is not None} - {None} == set(LISTED)


def test_each_named_test_exists() -> None:
    for name in LISTED.values():
        file, _, function = name.partition("::")
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        functions = {n.name for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))}
        assert function in functions, name
