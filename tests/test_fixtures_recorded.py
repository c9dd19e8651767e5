"""The fixtures as torch 2.11 ran them on a GPU machine with Python 3.12: the same codes at the same lines as are written under them.

The recordings hold the programs, too, as they were then. Columns are not compared: torch 2.11 does not say where in its line a break is.
"""

from __future__ import annotations

import pytest

from compile_lens.analysis.outcome import Status
from fixture_notation import read
from replay import JOB, program, recording, replay
from test_fixtures import IMPORTED_PART, as_expected

# what that version does otherwise: (expected, found) by line
OTHERWISE = {
    # other codes for the same thing
    "break_deepcopy": ({(10, "GB4198")}, {(10, "GB0179")}),
    "break_generator": ({(18, "GB4347")}, {(18, "GB0253")}),
    "break_numpy": ({(9, "GB0156")}, {(9, "GB0007")}),
    # a break that a later version does not have
    "break_in_package": (set(), {(10, "GB0007")}),
    # a later version's cache passes over what enters autocast
    "numbers_right": ({(13, "cache-bypass")}, set()),
}
NAMES = [
    name
    for name in sorted(file.removesuffix(".wire") for file in recording("fixtures") if file.endswith(".wire"))
    if not IMPORTED_PART.search(program("fixtures", name))
]


@pytest.mark.parametrize("name", NAMES)
def test_the_same_codes_stand_at_the_same_lines(name: str) -> None:
    outcome = replay("fixtures", name)
    assert outcome.status in (Status.OK, Status.RAISED), outcome.failure
    assert {finding.place.file for finding in outcome.findings} <= {f"{JOB}/{name}.py"}
    annotated = read(program("fixtures", name))
    expected = {(one.line, one.code) for one in annotated.expected}
    found = {(one.line, one.code) for one in as_expected(annotated, outcome.findings)}
    assert (expected - found, found - expected) == OTHERWISE.get(name, (set(), set()))


def test_the_fixtures_are_recorded() -> None:
    assert len(NAMES) >= 75
    assert set(OTHERWISE) <= set(NAMES)
