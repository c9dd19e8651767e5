"""Arguments that a script takes from `sys.argv` are made up where it ends without them, and nowhere else."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest
from tests.entries.agent_package import agent_module
from tests.entries.script_runs import project, run
from tests.entries.sources import NET_OF_WIDTH

from compile_lens.agent.runtime.counted_arguments import counted_arguments, ends_without
from compile_lens.analysis.finding import Severity
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")

USAGE = "import sys\nif {check}:\n    print('usage')\n    {end}\nmode = sys.argv[1]\nsteps = int(sys.argv[2])\n"


@pytest.mark.parametrize("end", ["sys.exit(1)", "exit()", "raise SystemExit('usage')"])
@pytest.mark.parametrize("check", ["len(sys.argv) < 3", "len(sys.argv) != 3", "not len(sys.argv) == 3"])
def test_as_many_as_the_check_asks_for(check: str, end: str) -> None:
    found = counted_arguments(USAGE.format(check=check, end=end))
    assert [(each.name, each.kind) for each in found] == [("mode", None), ("steps", int)]


@pytest.mark.parametrize(
    ("source", "line", "ends"),
    [
        (USAGE.format(check="len(sys.argv) < 3", end="sys.exit(1)"), 4, True),
        (USAGE.format(check="len(sys.argv) < 3", end="sys.exit(1)"), 5, False),
        (USAGE.format(check="len(sys.argv) > 3", end="sys.exit(1)"), 4, False),
        ("import sys\nitems = []\nprint(items[0])\nrate = sys.argv[1]\n", 4, True),
        ("import sys\nitems = []\nprint(items[0])\nrate = sys.argv[1]\n", 3, False),
    ],
)
def test_where_a_program_ends_for_the_lack_of_them(source: str, line: int, ends: bool) -> None:
    assert ends_without(source, line) is ends


def test_values_by_what_is_done_with_them() -> None:
    source = (
        USAGE.format(check="len(sys.argv) <= 3", end="sys.exit(2)") + "if mode == 'train':\n    print(sys.argv[3])\n"
    )
    found = counted_arguments(source)
    assert [(each.shown, each.choices) for each in found] == [("mode", ("train",)), ("steps", ()), ("sys.argv[3]", ())]


def test_what_is_taken_without_a_check() -> None:
    found = counted_arguments("from sys import argv\nout_dir = argv[1]\nrate = float(argv[2])\n")
    assert [(each.name, each.kind) for each in found] == [("out_dir", None), ("rate", float)]


@pytest.mark.parametrize(
    "source",
    [
        "import sys\nmode = sys.argv[1] if len(sys.argv) > 1 else 'small'\n",
        "import sys\nif len(sys.argv) > 1:\n    mode = sys.argv[1]\n",
        "import sys\nif len(sys.argv) > 2:\n    sys.exit(1)\n",
        "import sys\nif len(sys.argv) < minimum:\n    sys.exit(1)\n",
        "import sys\ntry:\n    mode = sys.argv[1]\nexcept IndexError:\n    mode = 'small'\n",
        "import sys, argparse\nif len(sys.argv) < 2:\n    sys.exit(1)\n",
        "import sys\ndef main(argv):\n    if len(argv) < 2:\n        sys.exit(1)\nmain(sys.argv[1:])\n",
        "import sys\nprint(sys.argv[0], sys.argv[-1], sys.argv[1:])\n",
    ],
)
def test_none_where_the_program_can_do_without(source: str) -> None:
    assert counted_arguments(source) == []


SCRIPT = (
    """\
import sys
import torch


"""
    + NET_OF_WIDTH
    + """\


def main():
    if len(sys.argv) != 3:
        print("usage: train.py DATA WIDTH")
        return
    data, width = sys.argv[1], int(sys.argv[2])
    net = Net(width * 24)
    for batch in torch.load(data, weights_only=False):
        net(batch).sum().backward()


if __name__ == "__main__":
    main()
"""
)


def test_the_model_of_a_script_that_counts_its_arguments(tmp_path: Path, warm_host: WarmHost) -> None:
    project(tmp_path, {"train.py": SCRIPT})
    outcome = run(warm_host, tmp_path / "train.py", "model")
    assert [(call.making, ", 24]" in call.inputs) for call in outcome.calls] == [("Net from line 19", True)]
    assert "Made up the required arguments `data`, `width`. Pass your own after `--`." in outcome.notes


@pytest.mark.parametrize("end", ["sys.exit(1)", "raise SystemExit('usage: train.py DATA')"])
def test_a_script_that_ends_without_them_needs_arguments(tmp_path: Path, warm_host: WarmHost, end: str) -> None:
    project(tmp_path, {"train.py": SCRIPT.replace("        return\n    data", f"        {end}\n    data")})
    outcome = run(warm_host, tmp_path / "train.py", "script")
    assert [(f.code, f.severity) for f in outcome.findings] == [("missing-arguments", Severity.ERROR)]
    assert outcome.findings[0].message == (
        "The program needs different arguments: the following arguments are required: data, width."
    )
    assert outcome.findings[0].hints[0] == "Run `compile-lens check train.py -- DATA WIDTH`, with your own values."


def test_of_options_of_which_one_is_demanded_the_first_gets_a_value() -> None:
    parser = argparse.ArgumentParser()
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--data", type=Path)
    source.add_argument("--parquet", type=Path)
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--train", action="store_true")
    mode.add_argument("--test", action="store_true")
    told: list[list[str]] = []
    with agent_module("inputs.importing.made_up_arguments").made_up(told.append):
        made_up = parser.parse_args([])
    with agent_module("inputs.importing.made_up_arguments").made_up(told.append):
        passed = parser.parse_args(["--parquet", "x", "--test"])
    assert made_up.data.is_dir() and made_up.parquet is None and (made_up.train, made_up.test) == (True, False)
    assert (passed.data, passed.parquet, passed.train, passed.test) == (None, Path("x"), False, True)
    assert told == [["--data", "--train"]]
