"""Constructors and calls that take long: they are made with smaller numbers, as far as these are ours or defaults."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.agent_package import agent_module, imported

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

less_work = agent_module("inputs.synthesis.making.less_work")
arguments = agent_module("inputs.synthesis.terms.arguments")
candidate = agent_module("inputs.synthesis.terms.candidate")
dimensions = agent_module("inputs.synthesis.terms.dimensions")
parameter_info = agent_module("inputs.synthesis.terms.parameter_info")
search = agent_module("inputs.synthesis.trying.search")
target = agent_module("inputs.synthesis.target")
limits = agent_module("inputs.calling.time_limit")

TABLES = """\
import torch
from torch import nn


class Resampled(nn.Module):
    def __init__(self, width, patch=96, sides=(8, 12, 16), name="cubic"):
        super().__init__()
        self.patch, self.sides = patch, sides
        self.tables = [self._table(side) for side in self.sides]
        self.layer = nn.Linear(width, width)

    def _table(self, side):
        total = 0
        for row in range(self.patch ** 2 * side ** 2):
            for column in range(100):
                total += row * column
        return total

    def forward(self, x):
        return self.layer(x)
"""


def _started(tmp_path: Path) -> tuple[object, list[object]]:
    infos = [
        parameter_info.ParameterInfo("width", True, None, ""),
        parameter_info.ParameterInfo("patch", False, 96, ""),
        parameter_info.ParameterInfo("sides", False, (8, 12, 16), ""),
        parameter_info.ParameterInfo("name", False, "cubic", ""),
        parameter_info.ParameterInfo("points", False, 1024, ""),
    ]
    unknowns = dimensions.Unknowns()
    named = (("width", arguments.UnknownInteger(unknowns.get("width=", 64).name)),)
    return candidate.Candidate(arguments.Arguments(named), unknowns), infos


def _ended(tmp_path: Path) -> BaseException:
    """What ends the constructor after a tenth of a second."""
    program = imported(tmp_path / "resampled.py", TABLES)
    with pytest.raises(limits.SlowTrial) as raised, limits.at_most(0.1, limits.SlowTrial):
        program.Resampled(8)
    return raised.value


def test_what_the_loops_run_over_becomes_smaller_first(tmp_path: Path) -> None:
    start, infos = _started(tmp_path)
    found = [each.text for each in less_work.with_less_work(start, infos, _ended(tmp_path))]
    assert found == [
        "width=64, patch=24, sides=(2, 3, 4)",
        "width=64, points=128",
        "width=16, patch=24, sides=(2, 3, 4), points=256",
    ]


def test_what_a_call_site_passes_stays(tmp_path: Path) -> None:
    start, infos = _started(tmp_path)
    given = start.arguments.with_argument("patch", arguments.Expression("96"))  # type: ignore[attr-defined]
    kept = candidate.Candidate(given, start.unknowns)  # type: ignore[attr-defined]
    found = [each.text for each in less_work.with_less_work(kept, infos, _ended(tmp_path), {"patch"})]
    assert found and all("patch=96" in text for text in found)


def test_a_constructor_that_computes_for_long_is_called_with_smaller_defaults(tmp_path: Path) -> None:
    program = imported(tmp_path / "tables.py", TABLES)
    found = target.find_call(program, "Resampled", target.SearchBudget(60, 16.0)).expression
    assert "patch=" in found and "patch=96" not in found
