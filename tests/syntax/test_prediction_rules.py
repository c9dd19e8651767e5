"""The rules: their measured precision, the page that lists them, and their predictions for programs with known breaks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from compile_lens.syntax.predictions import measured, registry
from compile_lens.syntax.predictions.predict import predict
from fixture_notation import read

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "predictions.md"
JUDGED = r"(\d+ of \d+|–)"
ROW = re.compile(
    rf"^\| `([\w-]+)` \| .* \| ([\w, ]+) \| {JUDGED} \| {JUDGED} \| {JUDGED} \| (\S+) \| (certain)? ?\|$",
    re.MULTILINE,
)
# a fixture that ends in an error tells that in place of its breaks, and one breaks in what never runs
# nothing calls the function of the one; in the other breaks only come with other inputs
NOT_REACHED = ("clean_unused", "varied_inputs")
FIXTURES = [path for path in sorted((ROOT / "tests" / "fixtures").glob("[!_e]*.py")) if path.stem not in NOT_REACHED]


def test_the_page_lists_every_rule_with_its_measurements() -> None:
    rows = ROW.findall(PAGE.read_text(encoding="utf-8"))
    assert [row[0] for row in rows] == [rule.name for rule in registry.RULES]
    for name, codes, *parts, _, certain in rows:
        rule = registry.BY_NAME[name]
        assert codes == ", ".join(rule.codes)
        for part, (right, wrong) in zip(
            parts, (rule.measurement.own, rule.measurement.looked_at, rule.measurement.held_out), strict=True
        ):
            assert part == (f"{right} of {right + wrong}" if right + wrong else "–")
        assert bool(certain) == rule.is_certain


def test_every_rule_is_precise_and_was_tried_in_real_code_or_is_certain() -> None:
    assert [rule.name for rule in registry.RULES if not rule.is_precise] == []
    assert set(measured.MEASUREMENTS) == registry.ALL
    assert {"print", "logging", "tensor-item", "tensor-branch", "dynamic-shape"} <= registry.ALL


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda path: path.stem)
def test_what_is_predicted_for_a_fixture_is_real(fixture: Path) -> None:
    program = read(fixture.read_text(encoding="utf-8"))
    real = {(one.line, one.column, one.end_line, one.end_column, one.code) for one in program.expected}
    for prediction in predict("\n".join(program.lines)):
        place = prediction.place
        codes = registry.BY_NAME[prediction.rule].codes
        places = {(place.line, place.column, place.end_line, place.end_column, code) for code in codes}
        assert places & real, f"{prediction.rule} at line {place.line}: {program.lines[place.line - 1]}"


def test_most_breaks_of_the_fixtures_are_predicted() -> None:
    """A floor for the walk itself, below what it reaches today."""
    real = found = 0
    for fixture in FIXTURES:
        program = read(fixture.read_text(encoding="utf-8"))
        lines = {(one.line, one.code) for one in program.expected if one.code.startswith("GB")}
        predicted = {
            (p.place.line, code) for p in predict("\n".join(program.lines)) for code in registry.BY_NAME[p.rule].codes
        }
        real += len(lines)
        found += len(lines & predicted)
    assert found / real > 0.75
