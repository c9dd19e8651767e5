"""Programs that wait for a person: debuggers continue, prompts whose answer hardly counts get an empty line, and each is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.agent_package import agent_module

from compile_lens.analysis.stand_ins import NO_TERMINAL
from compile_lens.workers.job import Job
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")

ASKING = """\
import pdb
import torch


def look(x):
    pdb.set_trace()
    return x + 1


class Own(pdb.Pdb):
    pass


input("Press Enter to start: ")
if input("Continue? [y/n] ").lower() == "n":
    raise SystemExit(3)


@torch.compile
def f(x):
    return x.sin()


breakpoint()
Own().set_trace()
f(look(torch.ones(3)))
while input("quit? ") != "q":
    print("again")
"""
USES = """\
import sys

for line in sys.stdin:
    raise RuntimeError(line)
assert sys.stdin.read() == sys.stdin.readline() == ""
count = int(input("How many? "))
"""


def test_the_program_continues_and_each_place_is_told(tmp_path: Path, warm_host: WarmHost) -> None:
    file = tmp_path / "asking.py"
    file.write_text(ASKING)
    outcome = warm_host.run(Job(str(file), timeout_s=120.0))
    told = [(each.place.line, each.place.column) for each in outcome.findings if each.code == NO_TERMINAL]
    assert told == [(6, 5), (14, 1), (15, 4), (24, 1), (25, 1), (27, 7)]
    assert outcome.graphs == 1
    # one that asks until it gets another answer ends as without a terminal
    (raised,) = [each for each in outcome.findings if each.code == "run-error"]
    assert (raised.place.line, "EOFError" in raised.message) == (27, True)


def test_no_answer_is_made_up_that_the_program_computes_with(tmp_path: Path, warm_host: WarmHost) -> None:
    file = tmp_path / "uses.py"
    file.write_text(USES)
    outcome = warm_host.run(Job(str(file), timeout_s=120.0))
    (raised,) = outcome.findings
    assert (raised.place.line, "EOFError" in raised.message) == (6, True)


def test_which_prompts_are_answered(tmp_path: Path) -> None:
    file = tmp_path / "prompts.py"
    lines = ["input()", "x = input()", "print(input())", "while not input().strip(): pass", "y = 1 if input() else 2"]
    file.write_text("\n".join(lines))
    assert agent_module("substitutes.unattended")._prompts(str(file)) == ((1, 1), (4, 4), (5, 5))
