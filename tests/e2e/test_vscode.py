"""The extension in a real VS Code, driven through a real browser. One workbench serves all tests: run with ``--dist loadgroup``."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest
from shown import EXAMPLES, NOT_COPIED, SMALL, problem, row, underlined, without_print
from workbench import CLIENT, PYTHON, ROOT, Lab, Workbench

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("vscode")]

WALKTHROUGH = CLIENT / "media" / "walkthrough"
SCREENSHOT = ROOT / "docs" / "images" / "vscode.png"

STORM = """\
import time
import torch

class Config:
    name = ""

@torch.compile(backend="eager")
def step(x):
    return x + len(Config.name) if Config.name != "-" else x

for number in range(6):
    Config.name = f"run{number}"
    step(torch.ones(3))
time.sleep(600)
"""
ENDLESS = """\
import time

import torch


@torch.compile
def f(x):
    return x + 1


f(torch.ones(3))
while True:
    time.sleep(0.1)
"""


SEVERAL_WAYS = '''\
import torch


@torch.compile
def scale(x, factor):
    """
    >>> scale(torch.ones(3), 2)
    tensor([2., 2., 2.])
    """
    print(factor)
    return x * factor


def get_inputs():
    return [torch.ones(2, 3), 2.0]
'''

TWO_BREAKS = """\
import torch


@torch.compile
def f(x):
    torch._dynamo.graph_break()
    x = x + 1
    torch._dynamo.graph_break()
    return x * 2


f(torch.ones(3))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace of its own for each test, so that consent is asked for again."""
    return shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=NOT_COPIED)


@pytest.mark.nightly
def test_shows_what_the_terminal_prints(
    workbench: Workbench, terminal: dict[str, list[dict[str, Any]]], folder: Path, shots: Path
) -> None:
    assert terminal["clean_model.py"] == []
    files: dict[str, dict[str, Any]] = {
        name: {
            "underlined": underlined(terminal[name], (folder / name).read_text()),
            "count": len(terminal[name]),
            # hints are not listed
            "problems": [problem(each) for each in terminal[name] if each["severity"] != "hint"],
            "hovers": [],
        }
        for name in EXAMPLES
    }
    branch = next(each for each in terminal["transformer_block.py"] if each["code"] == "GB0170")
    files["transformer_block.py"]["hovers"] = [
        {
            "line": "if x.abs().max() > OVERFLOW_LIMIT",
            "text": "OVERFLOW_LIMIT",
            "says": ["Detected data-dependent branching", "torch.where", branch["code"]],
            "links": [branch["url"]],
        },
    ]
    files["training_step.py"]["hovers"] = [
        {
            "line": "@torch.compile",
            "text": "compile",
            "says": ["recompiles", "scaled_loss", "Last run", "fullgraph"],
            "links": [],
        }
    ]
    workbench.play("findings", folder, shots, {"files": files})


def test_findings_follow_the_text_and_a_save_renews_them(
    workbench: Workbench, terminal: dict[str, list[dict[str, Any]]], folder: Path, shots: Path
) -> None:
    name = "transformer_block.py"
    text = (folder / name).read_text()
    fixed, broken = without_print(text)
    data = {
        "file": name,
        "before": underlined(terminal[name], text),
        "moved": underlined(terminal[name], text, moved=1),
        "after": underlined(terminal["fixed.py"], fixed),
        "broken": broken,
    }
    workbench.play("editing", folder, shots, data)
    assert (folder / name).read_text() == fixed


@pytest.mark.nightly
def test_all_findings_are_fixed_after_a_look_at_the_diff(workbench: Workbench, tmp_path: Path, shots: Path) -> None:
    folder = tmp_path / "fix-all"
    folder.mkdir()
    (folder / "small.py").write_text(TWO_BREAKS)
    gone = "torch._dynamo.graph_break()"
    marks = [{"line": line, "text": gone, "severity": "warning"} for line in (6, 8)]
    data = {"file": "small.py", "underlined": marks, "gone": gone, "kept": "return x * 2"}
    workbench.play("fix_all", folder, shots, data, limit=300)


@pytest.mark.nightly
def test_a_run_can_be_cancelled(workbench: Workbench, tmp_path: Path, shots: Path) -> None:
    folder = tmp_path / "endless"
    folder.mkdir()
    (folder / "endless.py").write_text(ENDLESS)
    workbench.play("cancel", folder, shots, {"file": "endless.py"})


@pytest.mark.nightly
def test_a_server_that_dies_comes_back(
    workbench: Workbench, terminal: dict[str, list[dict[str, Any]]], tmp_path: Path, shots: Path
) -> None:
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "small.py").write_text(SMALL)
    data = {"file": "small.py", "underlined": underlined(terminal["small.py"], SMALL)}
    workbench.play("server", folder, shots, data)


@pytest.mark.nightly
def test_predicts_as_the_user_types_until_a_run_tells_the_truth(
    workbench: Workbench, terminal: dict[str, list[dict[str, Any]]], tmp_path: Path, shots: Path
) -> None:
    folder = tmp_path / "predicted"
    folder.mkdir()
    (folder / "small.py").write_text(SMALL)
    hint = {"line": 11, "text": "pr", "severity": "hint"}
    data = {
        "file": "small.py",
        "predicted": [hint],
        "hover": {"line": "print(", "text": "print", "says": ["Predicted graph break", "without a run", "were right"]},
        "typed": {
            "behind": "print(",
            "text": "y = x.sum().item()",
            "predicted": [hint, {"line": 12, "text": "x.", "severity": "hint"}],
        },
        "truth": underlined(terminal["small.py"], SMALL),
    }
    workbench.play("predictions", folder, shots, data)


@pytest.mark.nightly
def test_a_run_in_a_terminal_is_followed(workbench: Workbench, tmp_path: Path, shots: Path) -> None:
    folder = tmp_path / "followed"
    folder.mkdir()
    (folder / "train.py").write_text(STORM)
    workbench.play("follow", folder, shots, {"file": "train.py"})


@pytest.mark.nightly
def test_what_a_file_is_analyzed_with_is_chosen_from_a_list(workbench: Workbench, tmp_path: Path, shots: Path) -> None:
    folder = tmp_path / "entries"
    folder.mkdir()
    (folder / "scaling.py").write_text(SEVERAL_WAYS)
    listing = [PYTHON, "-m", "compile_lens", "entries", "--format", "json", str(folder / "scaling.py")]
    done = subprocess.run(listing, capture_output=True, text=True, check=True)
    (told,) = json.loads(done.stdout)
    data = {
        "file": "scaling.py",
        "first": "Analyzed with get_inputs() · change",
        "listed": [
            *(f"{each['entry']}: {each['origin'].replace('`', '')}" for each in told["entries"]),
            "Automatically: the first entry that compiles anything (chosen)",
        ],
        "other": "doctest:scale",
        "then": "Analyzed with the doctest of scale · change",
    }
    workbench.play("entries", folder, shots, data, limit=500)


def test_without_a_usable_python_it_says_what_to_do(lab: Lab, vsix: Path, tmp_path: Path, shots: Path) -> None:
    folder = tmp_path / "no-server"
    folder.mkdir()
    (folder / "small.py").write_text(SMALL)
    python = folder / "python"
    python.write_text("#!/bin/sh\nexit 1\n")
    python.chmod(0o755)
    (folder / ".venv").symlink_to(Path(PYTHON).parent.parent)
    with Workbench(lab, vsix, {"compileLens.interpreter": [str(python)]}) as workbench:
        data = {"file": "small.py", "broken": str(python), "python": str(folder / ".venv" / "bin" / "python")}
        workbench.play("no_server", folder, shots, data, limit=300)
    workbench.assert_nothing_is_left()


def test_nothing_runs_in_a_workspace_that_is_not_trusted(
    lab: Lab, vsix: Path, terminal: dict[str, list[dict[str, Any]]], tmp_path: Path, shots: Path
) -> None:
    # a workspace that names executables of its own: an interpreter and a server, which both leave a mark and go on
    folder = tmp_path / "untrusted"
    (folder / ".vscode").mkdir(parents=True)
    (folder / "small.py").write_text(SMALL)
    marks = {"python": folder / "python.ran", "server": folder / "server.ran", "file": folder / "small.ran"}
    for name in ("python", "server"):
        script = folder / name
        script.write_text(f'#!/bin/sh\ntouch "{marks[name]}"\nexec "{PYTHON}" "$@"\n')
        script.chmod(0o755)
    settings = {
        "compileLens.run.enabled": "always",
        "compileLens.python": str(folder / "python"),
        "compileLens.server.command": [str(folder / "server"), "-m", "compile_lens", "serve"],
    }
    (folder / ".vscode" / "settings.json").write_text(json.dumps(settings))
    data = {
        "file": "small.py",
        "marks": {name: str(path) for name, path in marks.items()},
        "underlined": underlined(terminal["small.py"], SMALL),
    }
    machine = {"compileLens.python": PYTHON, "compileLens.sandbox.allowWrite": [str(folder)]}
    with Workbench(lab, vsix, machine, workspace_trust=True) as workbench:
        workbench.play("trust", folder, shots, data)
    workbench.assert_nothing_is_left()


@pytest.mark.nightly
def test_the_views_and_the_pictures_of_the_docs(
    workbench: Workbench, terminal: dict[str, list[dict[str, Any]]], shots: Path
) -> None:
    """The pictures are always taken, so that they cannot rot; kept only with ``UPDATE_SCREENSHOT=1``."""
    name = "transformer_block.py"
    # a short path: torch's explanation has it
    with tempfile.TemporaryDirectory(prefix="demo-", dir="/tmp") as parent:
        folder = shutil.copytree(ROOT / "examples", Path(parent) / "examples", ignore=NOT_COPIED)
        data = {
            "file": name,
            "count": len(terminal[name]),
            "rows": [row(each) for each in terminal[name]],
            "recompiling": "training_step.py",
            "axe": str(CLIENT / "node_modules" / "axe-core" / "axe.min.js"),
        }
        workbench.play("screenshot", folder, shots, data, limit=450)
    picture = shots / "vscode.png"
    assert picture.stat().st_size > 50_000
    if os.environ.get("UPDATE_SCREENSHOT") == "1":
        SCREENSHOT.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(picture, SCREENSHOT)
        WALKTHROUGH.mkdir(parents=True, exist_ok=True)
        for part in ("findings", "details", "fixes"):
            for theme in ("dark", "light", "high-contrast"):
                shutil.copyfile(shots / f"{part}-{theme}.png", WALKTHROUGH / f"{part}-{theme}.png")
