"""Every row of the table of kinds is complete: its page, a program that shows it, the schema, its logs, its criterion."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from compile_lens.analysis.finding import Kind
from compile_lens.knowledge.entry import KnowledgeKind
from compile_lens.knowledge.lookup import Knowledge
from compile_lens.repro.contract import Criterion
from fixture_notation import read

ROOT = Path(__file__).parent.parent.parent
PAGES = ROOT / "docs" / "findings"
FIXTURES = ROOT / "tests" / "fixtures"
# what the index shows of kinds with more codes than this is their page
MAX_CODES = 9


def shown_codes() -> set[str]:
    """The codes written under the lines of the fixtures; torch's own are ``GB``."""
    expected = [one.code for file in FIXTURES.glob("*.py") for one in read(file.read_text(encoding="utf-8")).expected]
    return {"GB" if code.startswith("GB") else code.partition("/")[0] for code in expected}


def index_row(kind: Kind) -> str:
    """The row of a kind in the index of the pages."""
    row = kind.row
    codes = ["GBnnnn" if code == "GB" else code for code in row.codes]
    listed = ", ".join(f"`{code}`" for code in codes)
    cell = listed if len(codes) <= MAX_CODES else f"{len(codes)}, such as `{codes[0]}`"
    severity = f"{row.severity.value}; {row.exceptions}" if row.exceptions else row.severity.value
    return f"| [{kind.value}]({row.page.removeprefix('README.md')}) | {cell} | {severity} | {row.meaning} |"


@pytest.mark.parametrize("kind", Kind)
def test_a_kind_has_a_page_that_names_its_codes(kind: Kind) -> None:
    page = (PAGES / kind.row.page.partition("#")[0]).read_text(encoding="utf-8")
    assert kind.value in page
    assert [code for code in kind.row.codes if f"`{code}" not in page and code != kind.value] == []


@pytest.mark.parametrize("kind", Kind)
def test_a_kind_is_shown_by_a_fixture_or_says_why_not(kind: Kind) -> None:
    assert bool(shown_codes() & set(kind.row.codes)) or kind.row.without_run


def test_every_code_of_the_fixtures_is_in_the_table() -> None:
    assert shown_codes() - {code for kind in Kind for code in kind.row.codes} == set()


@pytest.mark.parametrize("kind", Kind)
def test_the_logs_of_a_kind_are_torchs(kind: Kind) -> None:
    knowledge = Knowledge()
    assert [log for log in kind.row.logs.split(",") if not knowledge.knows(KnowledgeKind.LOG, log.lstrip("+"))] == []


@pytest.mark.parametrize("kind", Kind)
def test_a_repro_of_a_kind_has_a_criterion(kind: Kind) -> None:
    assert kind.row.repro == "" or Criterion(kind.row.repro)


def test_the_schema_lists_exactly_the_kinds() -> None:
    schema = json.loads((ROOT / "docs" / "findings.schema.json").read_text(encoding="utf-8"))
    assert schema["$defs"]["finding"]["properties"]["kind"]["enum"] == [kind.value for kind in Kind]


def test_the_contract_lists_exactly_the_kinds() -> None:
    text = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
    rows = re.findall(r"^  \| `([a-z-]+)` \| (.+) \|$", text, re.MULTILINE)
    levels = [
        (kind.value, f"{row.severity.value}; {row.exceptions}" if row.exceptions else row.severity.value)
        for kind in Kind
        if (row := kind.row)
    ]
    assert rows == levels


def test_the_index_has_a_row_for_each_kind() -> None:
    table = re.findall(r"^\| \[.+$", (PAGES / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert table == [index_row(kind) for kind in Kind]


def test_a_member_is_found_by_its_value() -> None:
    assert [Kind(kind.value) for kind in Kind] == list(Kind)
