"""``compile-lens fix``: verified fixes one after the other, as a diff, as JSON, and written."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import jsonschema
import pytest
from tests.command import SCHEMA, Warm

from compile_lens.analysis.finding import Finding, Kind, Place, Severity
from compile_lens.cli.fix import ToldSteps
from compile_lens.fixes.fix import Edit, make
from compile_lens.fixes.verify import CandidateFix
from compile_lens.syntax.tree import Range

PROGRAM = """\
import logging
import torch

logger = logging.getLogger(__name__)


@torch.compile
def f(x):
    if x.sum() > 0:
        x = x + 1
    logger.info("seen")
    return x


f(torch.ones(3))
"""
FIXED = "    x = torch.where(x.sum() > 0, x + 1, x)\n"


def test_fixes_are_a_diff_until_they_are_written(warm_command: None, tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text(PROGRAM)
    file.chmod(0o640)
    done = Warm(["fix", "--until", "clean", "--with-loss", "--json", "train.py"], tmp_path)
    found = json.loads(done.out)
    jsonschema.validate(found, {"$defs": SCHEMA["$defs"], "$ref": "#/$defs/fixed"})
    assert (done.code, file.read_text(), found["written"], found["remaining"]) == (0, PROGRAM, False, [])
    steps = {step["finding"]["code"]: step for step in found["steps"]}
    assert (steps["GB0170"]["rule"], steps["GB0291"]["rule"]) == ("where", "log-in-eager")
    assert all(step["effect"]["results"]["equal"] for step in found["steps"])
    assert found["counts"]["breaks"] == [2, 0]
    assert f"+{FIXED}" in found["diff"]
    done = Warm(["fix", "--finding", "GB0170@9", "--write", "train.py"], tmp_path)
    assert done.code == 0, done.err
    assert FIXED in file.read_text() and 'logger.info("seen")\n' in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert "train.py:9: GB0170: Compute both sides and select with `torch.where` (where): 2 → 1 break" in done.err


def test_what_cannot_be_fixed_is_said(warm_command: None, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    done = Warm(["fix", "--finding", "GB0291@11", "train.py"], tmp_path)
    assert (done.code, done.out) == (1, "")
    asked = "decide whether the message may be missing where the code is compiled (ignore-logging, log-in-eager)"
    assert f"train.py:11: GB0291 remains: no rewrite fits; {asked}" in done.err
    assert "`--with-loss` also applies ignore-logging, log-in-eager." in done.err
    assert Warm(["fix", "--finding", "GB0291@x", "train.py"], tmp_path).code == 2


def test_steps_name_lines_of_the_file_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    steps = ToldSteps("import torch\nx = f(y)\n")
    for line, added in ((2, "import math\n"), (3, "import os\n")):
        finding = Finding("GB0001", Kind.GRAPH_BREAK, Severity.WARNING, "m", Place("p.py", line, 1, line, 2))
        fix = make("hoist", "Do it", Edit(Range(1, 1, 1, 1), added))
        steps.tell(CandidateFix(finding, fix, None, why_not="no run"))
    assert [line.partition(": ")[0].rpartition("/")[2] for line in capsys.readouterr().err.splitlines()] == [
        "p.py:2"
    ] * 2


REGIONS = """\
import torch


@torch.compile
def whole(x):
    return x * 2


@torch.compile
def broken(x):
    torch._dynamo.graph_break()
    return x + 1


@torch.compile(fullgraph=True)
def kept(x):
    return x - 1


class Net(torch.nn.Module):
    def forward(self, x):
        return x.relu()


model = Net()
model.compile(dynamic=False)
for f in (whole, broken, kept, model):
    f(torch.ones(3))
"""


def test_regions_without_a_break_are_kept_one_graph(warm_command: None, tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text(REGIONS)
    done = Warm(["fix", "--one-graph", "--json", "train.py"], tmp_path)
    found = json.loads(done.out)
    jsonschema.validate(found, {"$defs": SCHEMA["$defs"], "$ref": "#/$defs/fixed"})
    assert (done.code, found["steps"], file.read_text()) == (0, [], REGIONS)
    assert [(each["region"], each["holds"]) for each in found["one_graph"]] == [("whole", True), ("model", True)]
    assert {each["words"] for each in found["one_graph"]} == {"no break in the run, results equal"}
    done = Warm(["fix", "--one-graph", "--write", "train.py"], tmp_path)
    assert done.code == 0, done.err
    assert "train.py:4: Keep `whole` one graph (`fullgraph=True`): no break in the run, results equal" in done.err
    text = file.read_text()
    assert text.count("fullgraph=True") == 3 and "@torch.compile\ndef broken(x):" in text
    again = Warm(["fix", "--one-graph", "train.py"], tmp_path)
    assert (again.code, again.out) == (0, "")
    assert "Nothing to set: each region has a break, was not compiled, or sets `fullgraph` itself." in again.err


def test_nothing_is_written_through_a_link_that_leads_out(warm_command: None, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    (clone / ".git").mkdir(parents=True)
    outside, inside = tmp_path / "own.py", clone / "model.py"
    for file in (outside, inside):
        file.write_text(PROGRAM)
    (clone / "out.py").symlink_to(outside)
    (clone / "folder").symlink_to(tmp_path)
    (clone / "in.py").symlink_to(inside)
    for named in ("out.py", "folder/own.py"):
        refused = Warm(["fix", "--finding", "GB0170@9", "--write", named], clone)
        assert refused.code == 2 and f"leads out of {clone}" in refused.err and str(outside) in refused.err
    assert outside.read_text() == PROGRAM
    done = Warm(["fix", "--finding", "GB0170@9", "--write", "in.py"], clone)
    assert done.code == 0, done.err
    assert FIXED in inside.read_text() and (clone / "in.py").is_symlink()
