"""``compile-lens check`` as a user runs it: what it prints, its exit codes, and bad input."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import pytest
from tests.command import Result, Warm

pytestmark = pytest.mark.usefixtures("warm_command")
# these are commands in a process of their own, and others in this one
COLD = ("segfault", "no such file")
TRACES = Path(__file__).parent.parent / "data"

BREAKS = """\
import torch

@torch.compile
def f(x, n):
    if x.sum() > 0:
        x = x + n
    return x

f(torch.ones(3), 1)
f(torch.ones(3), 2)
"""


def write(folder: Path, name: str, source: str) -> str:
    (folder / name).write_text(textwrap.dedent(source))
    return name


def test_text_shows_the_line_the_range_the_reason_and_a_summary(tmp_path: Path) -> None:
    write(tmp_path, "model.py", BREAKS)
    result = Result(["check", "model.py"], tmp_path)
    assert result.code == 0
    lines = result.out.splitlines()
    assert lines[0] == "model.py:4:10: information[recompile] Recompiled `f`: `n` changed (was 1)."
    at = lines.index(
        "model.py:5:8: warning[GB0170] Graph break: this line branches on a tensor's value; no setting avoids it."
    )
    assert lines[at + 2 : at + 4] == ["5 │     if x.sum() > 0:", "  │        ^^^^^^^^^^^"]
    assert "Detected data-dependent branching" in result.out
    assert "hint: Use `torch.cond`" in result.out
    assert "path: <module> (model.py:9) → f (model.py:5)" in result.out
    assert "gb0170.html" in result.out
    assert "model.py: 1 region, 3 graphs, 1 graph break, 1 recompile," in result.out


def test_quiet_is_one_line_per_finding(tmp_path: Path) -> None:
    write(tmp_path, "model.py", BREAKS)
    result = Warm(["check", "-q", "--fail-on", "warning", "model.py"], tmp_path)
    assert result.code == 1
    assert [line.split()[1] for line in result.out.splitlines()] == ["information[recompile]", "warning[GB0170]"]


def test_json_is_the_contract(tmp_path: Path) -> None:
    write(tmp_path, "model.py", BREAKS)
    write(tmp_path, "clean.py", "import torch\nprint(torch.compile(lambda x: x + 1)(torch.ones(2)))\n")
    result = Warm(["check", "--format", "json", "--fail-on", "information", "model.py", "clean.py"], tmp_path)
    assert result.code == 1
    model, clean = result.runs
    assert (model["status"], model["depth"], model["entry"]) == ("ok", "dynamo", "script")
    assert model["file"] == str(tmp_path / "model.py")
    assert model["regions"] == [{"name": "f", "line": 3, "graphs": 3, "breaks": 1, "recompiles": 1}]
    recompile, broken = model["findings"]
    assert (recompile["kind"], recompile["line"], recompile["column"], recompile["end_column"]) == (
        "recompile",
        4,
        10,
        11,
    )
    assert recompile["related"] == [{"file": model["file"], "line": 10, "message": "Called here (recompile 1/1)."}]
    assert (broken["code"], broken["kind"], broken["severity"]) == ("GB0170", "graph-break", "warning")
    assert (broken["line"], broken["column"], broken["end_line"], broken["end_column"]) == (5, 8, 5, 19)
    assert (broken["count"], broken["frames"]) == (1, ["0/0"])
    assert broken["url"].endswith("gb0170.html")
    assert clean["findings"] == []
    assert clean["regions"][0]["graphs"] == 1


def test_arguments_after_two_dashes_are_the_scripts(tmp_path: Path) -> None:
    write(tmp_path, "args.py", "import sys\nprint(sys.argv[1:])\n")
    result = Warm(["check", "-v", "args.py", "--", "--depth", "9", "x"], tmp_path)
    assert result.code == 0
    assert "['--depth', '9', 'x']" in result.out


@pytest.mark.slow
@pytest.mark.parametrize("depth", ["aot", "inductor"])
def test_deeper_compiles_find_the_same(tmp_path: Path, depth: str) -> None:
    write(tmp_path, "model.py", BREAKS.replace("x + n", "(x + n).relu()"))
    shallow = Warm(["check", "--format", "json", "model.py"], tmp_path).runs[0]
    deep = Warm(["check", "--format", "json", "--depth", depth, "model.py"], tmp_path).runs[0]
    for finding in (*shallow["findings"], *deep["findings"]):
        del finding["cost"]  # a recompile's is the time that it took
    assert deep["findings"] == shallow["findings"]
    assert deep["regions"] == shallow["regions"]


TIMEOUT_S = 4
RUNS = {
    "syntax error": ("import torch\ndef f(:\n", "raised", "The file cannot be run: SyntaxError: invalid syntax.", 2),
    "raises at import": (
        "import torch\nraise ValueError('no data')\n",
        "raised",
        "The program raised `ValueError`: no data.",
        2,
    ),
    "missing module": (
        "import no_such_module\n",
        "raised",
        "The program raised `ModuleNotFoundError`: No module named",
        1,
    ),
    # one that names no compiler is run for its model first, and has only a part of the time as a script
    "never ends": (
        "import torch\n\ntorch.compile(abs)\nwhile True:\n    pass\n",
        "timeout",
        f"Stopped here after {TIMEOUT_S} s (`run.timeout`).",
        None,
    ),
    "os._exit": ("import os\nos._exit(3)\n", "killed", "The process exited early with exit code 3", 1),
    "sys.exit": ("import sys\nsys.exit('stop')\n", "raised", "The program exits here with status 1: stop.", 2),
    "segfault": (
        "import ctypes\ndef crash():\n    ctypes.string_at(0)\ncrash()\n",
        "killed",
        "The program was killed here by a segmentation fault (SIGSEGV).",
        3,
    ),
    "input": ("int(input('name? '))\n", "raised", "The program raised `EOFError`", 1),
    "recursion": ("def f(): f()\nf()\n", "raised", "The program raised `RecursionError`", 1),
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in COLD else name for name in sorted(RUNS)]
)
def test_a_program_that_ends_badly_is_one_finding(tmp_path: Path, name: str) -> None:
    source, status, message, line = RUNS[name]
    write(tmp_path, "bad.py", source)
    result = (Result if name in COLD else Warm)(
        ["check", "--format", "json", "--timeout", str(TIMEOUT_S) if status == "timeout" else "60", "bad.py"], tmp_path
    )
    (run,) = result.runs
    assert run["status"] == status
    (finding,) = run["findings"]
    assert finding["kind"] == "run-error"
    assert finding["message"].startswith(message)
    assert finding["line"] == line or line is None
    assert result.code == (0 if status == "timeout" else 1)
    assert result.err == ""


def test_a_script_that_has_a_part_of_the_time_is_no_finding(tmp_path: Path) -> None:
    """It names no compiler, and is run for its model first: no limit of the user's ended it."""
    write(tmp_path, "endless.py", "while True:\n    pass\n")
    result = Warm(["check", "--format", "json", "--timeout", str(TIMEOUT_S), "endless.py"], tmp_path)
    (run,) = result.runs
    assert (run["status"], run["findings"], result.code) == ("timeout", [], 0)
    assert any(note.startswith("Stopped the file as a script after ") for note in run["notes"])


def test_what_was_compiled_before_a_bad_end_is_kept(tmp_path: Path) -> None:
    write(tmp_path, "bad.py", BREAKS + "import os\nos._exit(1)\n")
    (run,) = Warm(["check", "--format", "json", "bad.py"], tmp_path).runs
    assert [finding["code"] for finding in run["findings"]] == ["run-error", "recompile", "GB0170"]


@pytest.mark.parametrize("source", ["", "x = 1\n", "# only a comment"])
def test_a_file_that_compiles_nothing_says_so(tmp_path: Path, source: str) -> None:
    write(tmp_path, "plain.py", source)
    result = Warm(["check", "plain.py"], tmp_path)
    assert result.code == 0
    assert "Nothing in this file is compiled" in result.out


def test_a_hundred_megabytes_of_output_are_no_problem(tmp_path: Path) -> None:
    write(tmp_path, "loud.py", "for _ in range(100):\n    print('x' * 1_000_000)\n")
    result = Warm(["check", "-v", "loud.py"], tmp_path)
    assert result.code == 0
    assert len(result.out) < 400_000
    assert "bytes left out" in result.out


REFUSALS = {
    "no such file": (["check", "none.py"], "no such file"),
    "a directory": (["check", "folder"], "no Python file here uses torch.compile"),
    "binary": (["check", "binary.py"], "is not a Python file: it contains binary data"),
    "undeclared encoding": (["check", "latin.py"], "cannot be read as Python"),
    "no torch": (["check", "--python", "./bare", "fine.py"], "has no torch. Choose an interpreter"),
    "no interpreter": (["check", "--python", "/nowhere/python", "fine.py"], "There is no Python interpreter at"),
    "bad option": (["check", "--dept", "aot", "fine.py"], "No such option"),
    "bad depth": (["check", "--depth", "deep", "fine.py"], "'deep' is not one of"),
    "bad timeout": (["check", "--timeout", "0", "fine.py"], "0.0 is not in the range"),
    "no file given": (["check"], "Missing argument"),
    "bad verb": (["chek"], "No such command"),
    "no trace": (["trace", "folder"], "has no torch trace"),
    "bad port": (["serve", "--tcp", "abc"], "is not a port"),
}


@pytest.fixture
def bad_folder(tmp_path: Path) -> Path:
    (tmp_path / "binary.py").write_bytes(bytes(range(256)) * 10)
    (tmp_path / "latin.py").write_bytes(b"x = '\xe9'\n")
    (tmp_path / "folder").mkdir()
    write(tmp_path, "fine.py", "x = 1\n")
    bare = tmp_path / "bare"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S -I "$@"\n')
    bare.chmod(0o755)
    return tmp_path


@pytest.mark.parametrize("name", sorted(REFUSALS))
def test_what_cannot_be_analyzed_is_one_sentence(bad_folder: Path, name: str) -> None:
    arguments, sentence = REFUSALS[name]
    result = (Result if name in COLD else Warm)(arguments, bad_folder)
    assert result.code == 2
    assert sentence in result.err
    assert len(result.err.strip().splitlines()) == 1
    assert result.err.startswith("compile-lens: ")


def test_one_bad_file_does_not_hide_the_others(tmp_path: Path) -> None:
    write(tmp_path, "model.py", BREAKS)
    result = Warm(["check", "--format", "json", "none.py", "model.py"], tmp_path)
    assert result.code == 2
    assert [run["status"] for run in result.runs] == ["failed", "ok"]
    assert result.runs[1]["findings"]


def test_a_recorded_trace_prints_its_findings() -> None:
    folder = TRACES / "h200-single"
    result = Warm(["trace", str(folder), "--map", f"/cluster/job={folder}"], folder)
    assert result.code == 0
    assert (
        "gpu_single.py:33:12: warning[GB0170] Graph break: this line branches on a tensor's value; no setting avoids it."
        " (10 times)" in result.out
    )
    assert "33 │         if x.abs().max() > 1e4:" in result.out
    document = Warm(["trace", "--format", "json", str(TRACES / "h200-ddp")], folder)
    assert [run["entry"] for run in document.runs] == ["trace", "trace"]


def test_predictions_need_no_run(tmp_path: Path) -> None:
    write(tmp_path, "model.py", BREAKS + "raise SystemExit('this was run')\n")
    result = Warm(["predict", "--format", "json", "--fail-on", "hint", "model.py", "none.py"], tmp_path)
    assert result.code == 2
    assert result.err == "compile-lens: none.py: no such file.\n"
    model, missing = result.runs
    assert (model["entry"], model["status"], missing["status"]) == ("prediction", "ok", "failed")
    (finding,) = model["findings"]
    assert (finding["code"], finding["kind"], finding["line"], finding["column"]) == ("GB0170", "prediction", 5, 8)
