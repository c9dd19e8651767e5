"""SARIF against its published schema, GitHub's workflow commands, and JUnit's XML."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
from msgspec.structs import replace
from tests.published_schemas import published_schema

from compile_lens.analysis.finding import Finding, Kind, Place, Related, Severity
from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.formats.annotations import to_annotations
from compile_lens.formats.junit import to_junit
from compile_lens.formats.sarif import to_sarif
from compile_lens.syntax.tree import SourceTree, parse

SOURCE = "import torch\n\n\n@torch.compile\ndef f(x):\n    print(x, 50 % 3)\n    return x\n"


def broken(root: Path, line: int = 6) -> Finding:
    place = Place(str(root / "a b.py"), line, 5, line, 21)
    return Finding(
        "GB0059",
        Kind.GRAPH_BREAK,
        Severity.WARNING,
        "Graph break: 100 % of `f`,\nand more.",
        place,
        hints=("Remove it.",),
        related=(Related(place, "Called here."),),
        url="https://example.org/gb0059.html",
    )


def outcome(root: Path, *findings: Finding, **changed: Any) -> Outcome:
    made = Outcome(str(root / "a b.py"), "python", "2.13.0", "dynamo", "script", Status.OK, 1.5, findings=findings)
    return replace(made, **changed)


def tree_of(_: str) -> SourceTree:
    return parse(SOURCE)


def sarif(root: Path, *outcomes: Outcome) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(to_sarif(list(outcomes), tree_of, str(root)))
    jsonschema.validate(document, published_schema(b"(SARIF) Version 2.1.0 JSON Schema"))
    return document


def test_sarif_is_valid_and_names_places_relative_to_the_checkout(tmp_path: Path) -> None:
    elsewhere = replace(broken(tmp_path), place=Place("/lib/python/module.py", 1, 1, 1, 1))
    (run,) = sarif(tmp_path, outcome(tmp_path, broken(tmp_path), elsewhere))["runs"]
    here, library = (result["locations"][0]["physicalLocation"] for result in run["results"])
    assert here["artifactLocation"] == {"uri": "a%20b.py", "uriBaseId": "%SRCROOT%"}
    assert here["region"] == {"startLine": 6, "startColumn": 5, "endLine": 6, "endColumn": 21}
    assert library["artifactLocation"] == {"uri": "/lib/python/module.py"}
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["GB0059"]


def test_the_fingerprint_stays_when_lines_move_and_differs_for_each_finding(tmp_path: Path) -> None:
    def prints(*findings: Finding) -> list[str]:
        (run,) = sarif(tmp_path, outcome(tmp_path, *findings))["runs"]
        return [result["partialFingerprints"]["compileLens/v1"] for result in run["results"]]

    first, second = prints(broken(tmp_path), broken(tmp_path))
    assert first != second
    assert prints(replace(broken(tmp_path), message="In other words.")) == [first]


def test_a_file_may_have_any_name(tmp_path: Path) -> None:
    odd = replace(broken(tmp_path), place=Place(str(tmp_path / "\udcff.py"), 1, 1, 1, 2))
    (run,) = sarif(tmp_path, outcome(tmp_path, odd))["runs"]
    assert run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "%FF.py"


def test_a_file_that_failed_and_a_trace_are_told_in_sarif(tmp_path: Path) -> None:
    failed = outcome(tmp_path, status=Status.FAILED, failure="There is no torch.")
    rank = outcome(tmp_path, broken(tmp_path), entry="trace", file="rank_0.log")
    check, trace = sarif(tmp_path, failed, rank)["runs"]
    (invocation,) = check["invocations"]
    assert invocation["executionSuccessful"] is False
    assert invocation["toolExecutionNotifications"][0]["message"]["text"] == "There is no torch."
    assert trace["automationDetails"]["id"] == "compile-lens/trace rank_0.log/"


def test_annotations_are_one_line_each_and_escaped(tmp_path: Path) -> None:
    failed = outcome(tmp_path, status=Status.FAILED, failure="There is no torch.")
    lines = to_annotations([outcome(tmp_path, broken(tmp_path)), failed], str(tmp_path)).splitlines()
    assert lines == [
        "::warning file=a b.py,line=6,endLine=6,title=Graph break (GB0059),col=5,endColumn=21::"
        "Graph break: 100 %25 of `f`,%0Aand more.%0AHint: Remove it.",
        "::error file=a b.py::There is no torch.",
    ]


def test_junit_fails_by_severity_and_survives_control_characters(tmp_path: Path) -> None:
    odd = replace(broken(tmp_path), message="bell \x07", severity=Severity.ERROR)
    document = to_junit([outcome(tmp_path, broken(tmp_path), odd), outcome(tmp_path)], str(tmp_path), Severity.ERROR)
    found, clean = ElementTree.fromstring(document)
    assert (found.get("tests"), found.get("failures"), found.get("errors")) == ("2", "1", "0")
    assert [case.find("failure") is not None for case in found] == [False, True]
    assert (clean.get("tests"), len(clean)) == ("1", 1)
