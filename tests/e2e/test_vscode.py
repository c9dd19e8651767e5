"""The extension in a real VS Code, driven through a real browser. One workbench serves all tests: run with ``--dist loadgroup``."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
from workbench import CLIENT, PYTHON, ROOT, Lab, Workbench

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("vscode")]

WALKTHROUGH = CLIENT / "media" / "walkthrough"
SCREENSHOT = ROOT / "docs" / "images" / "vscode.png"
NOT_COPIED = shutil.ignore_patterns("__pycache__")
EXAMPLES = ("transformer_block.py", "training_step.py", "clean_model.py")
SEVERITIES = {"error": "error", "warning": "warning", "information": "info", "hint": "hint"}

SMALL = """\
import sys
from pathlib import Path

import torch

Path(sys.argv[0]).with_suffix(".ran").touch()


@torch.compile
def f(x):
    print("here")
    return x + 1


f(torch.ones(3))
"""

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

PYTHON_EXTENSION = """\
exports.activate = () => ({
  environments: {
    getActiveEnvironmentPath: () => ({ id: "chosen", path: "chosen" }),
    resolveEnvironment: async ({ id }) => ({ executable: { uri: require("vscode").Uri.file(%s) }, id }),
    onDidChangeActiveEnvironmentPath: () => ({ dispose() {} }),
  },
});
"""

# knows nothing before there is a file, as one that is turned off
ENVIRONMENTS_EXTENSION = """\
const fs = require("fs");
const changed = new (require("vscode").EventEmitter)();
const [mark, executable] = [%s, %s];
fs.watchFile(mark, { interval: 200 }, () => changed.fire({}));
exports.activate = () => ({
  getEnvironment: async () => (fs.existsSync(mark) ? { execInfo: { run: { executable } } } : undefined),
  onDidChangeEnvironment: changed.event,
});
"""


# writes what the editor lists for assistants
TOOLS_EXTENSION = """\
const fs = require("fs");
const vscode = require("vscode");
const file = %s;
const list = () => {
  fs.writeFileSync(`${file}.new`, JSON.stringify(vscode.lm.tools.map(({ name }) => name)));
  fs.renameSync(`${file}.new`, file);
};
exports.activate = () => setInterval(list, 500);
"""


def pack_extension(vsix: Path, name: str, main: str) -> None:
    """A stand-in for the extension ``ms-python.NAME``, with the part of its API that is used."""
    identity = f'Id="{name}" Version="1.0.0" Publisher="ms-python" Language="en-US"'
    engine = '<Property Id="Microsoft.VisualStudio.Code.Engine" Value="^1.90.0"/>'
    manifest: dict[str, Any] = {"name": name, "publisher": "ms-python", "version": "1.0.0", "main": "./main.js"}
    manifest["activationEvents"] = ["onStartupFinished"]
    with zipfile.ZipFile(vsix, "w") as archive:
        archive.writestr(
            "extension.vsixmanifest",
            '<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">'
            f"<Metadata><Identity {identity}/><Properties>{engine}</Properties></Metadata>"
            '<Assets><Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json"/></Assets>'
            "</PackageManifest>",
        )
        archive.writestr("extension/package.json", json.dumps({**manifest, "engines": {"vscode": "^1.90.0"}}))
        archive.writestr("extension/main.js", main)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace of its own for each test, so that consent is asked for again."""
    return shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=NOT_COPIED)


def without_print(text: str) -> tuple[str, str]:
    """The transformer example with its `print` taken out, and the line that is gone."""
    line = next(line for line in text.splitlines() if line.strip().startswith("print(f"))
    return text.replace(f"{line}\n", ""), line.strip()


@pytest.fixture(scope="session")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """What ``compile-lens check`` finds in each file of the tests, by the file's name."""
    folder = tmp_path_factory.mktemp("terminal")
    for name in EXAMPLES:
        shutil.copy(ROOT / "examples" / name, folder)
    (folder / "fixed.py").write_text(without_print((folder / "transformer_block.py").read_text())[0])
    (folder / "small.py").write_text(SMALL)
    files = sorted(map(str, folder.glob("*.py")))
    command = [PYTHON, "-m", "compile_lens", "check", "--python", PYTHON, "--format", "json", "--fail-on", "never"]
    done = subprocess.run([*command, *files], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    runs = json.loads(done.stdout)["runs"]
    return {Path(run["file"]).name: [each for each in run["findings"] if each["file"] == run["file"]] for run in runs}


def underlined(findings: list[dict[str, Any]], text: str, moved: int = 0) -> list[dict[str, Any]]:
    """The squiggles that the editor must show: one for each line of each range, those of a kind that overlap drawn as one.

    Of a hint VS Code marks only the first two characters.
    """
    lines = text.splitlines()
    marks = set()
    for each in findings:
        if each["severity"] == "hint":
            marks.add((each["line"], "hint", each["column"] - 1, each["column"] + 1))
            continue
        for number in range(each["line"], each["end_line"] + 1):
            line = lines[number - 1]
            start = each["column"] - 1 if number == each["line"] else len(line) - len(line.lstrip())
            end = each["end_column"] - 1 if number == each["end_line"] else len(line)
            marks.add((number, SEVERITIES[each["severity"]], start, end))
    drawn: list[tuple[int, str, int, int]] = []
    for number, severity, start, end in sorted(marks):
        if drawn and drawn[-1][:2] == (number, severity) and start <= drawn[-1][3]:
            number, severity, start, end = *drawn[-1][:3], max(end, drawn.pop()[3])
        drawn.append((number, severity, start, end))
    return [
        {"line": number + moved, "text": lines[number - 1][start:end], "severity": severity}
        for number, severity, start, end in drawn
    ]


def problem(finding: dict[str, Any]) -> dict[str, Any]:
    """The row of the Problems panel for a finding."""
    times = f" ({finding['count']} times)" if finding["count"] > 1 else ""
    return {
        "severity": SEVERITIES[finding["severity"]],
        "message": finding["message"] + times,
        "source": "compile-lens",
        "code": finding["code"],
        "line": finding["line"],
        "column": finding["column"],
    }


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


@pytest.mark.nightly
def test_uses_the_interpreter_of_the_python_extensions_and_follows_it(
    lab: Lab, vsix: Path, terminal: dict[str, list[dict[str, Any]]], tmp_path: Path, shots: Path
) -> None:
    folder = tmp_path / "chosen"
    folder.mkdir()
    (folder / "small.py").write_text(SMALL)
    pythons, extensions = [tmp_path / "first", tmp_path / "second"], (tmp_path / "python.vsix", tmp_path / "envs.vsix")
    for python in pythons:
        python.write_text(f'#!/bin/sh\ntouch "{python}.ran"\nexec "{PYTHON}" "$@"\n')
        python.chmod(0o755)
    first, second = map(str, pythons)
    chosen = str(tmp_path / "chosen.in.environments")
    pack_extension(extensions[0], "python", PYTHON_EXTENSION % json.dumps(first))
    environments = ENVIRONMENTS_EXTENSION % (json.dumps(chosen), json.dumps(second))
    pack_extension(extensions[1], "vscode-python-envs", environments)
    data = {"file": "small.py", "first": first, "second": second, "chosen": chosen}
    data["underlined"] = underlined(terminal["small.py"], SMALL)
    with Workbench(lab, vsix, {}, others=extensions) as workbench:
        workbench.play("interpreter", folder, shots, data, limit=300)
    workbench.assert_nothing_is_left()
    assert Path(f"{first}.ran").exists() and Path(f"{second}.ran").exists()


@pytest.mark.nightly
def test_the_editor_lists_the_tools_and_the_server_for_assistants(
    lab: Lab, vsix: Path, tmp_path: Path, shots: Path
) -> None:
    folder = tmp_path / "assistants"
    (folder / ".vscode").mkdir(parents=True)
    (folder / "small.py").write_text("import torch\n")
    (folder / ".vscode" / "settings.json").write_text('{"chat.disableAIFeatures": false}')
    listed, extension = tmp_path / "tools.json", tmp_path / "tools.vsix"
    pack_extension(extension, "tools", TOOLS_EXTENSION % json.dumps(str(listed)))
    tools = [
        each["name"] for each in json.loads((CLIENT / "package.json").read_text())["contributes"]["languageModelTools"]
    ]
    own_server = {"compileLens.server.command": [PYTHON, "-m", "compile_lens", "serve"]}
    data = {"file": "small.py", "tools": tools, "listed": str(listed), "mcp": False}
    with Workbench(lab, vsix, own_server, others=(extension,)) as workbench:
        seen = workbench.play("assistants", folder, shots, data, limit=300)["seen"]
        assert len([name for name in seen if name.startswith("compile-lens_")]) == len(tools) == 8
        # with an interpreter that has the package, the extension offers the server
        machine = {"compileLens.interpreter": [PYTHON], "compileLens.importStrategy": "fromEnvironment"}
        (workbench.profile / "data" / "Machine" / "settings.json").write_text(json.dumps(machine))
        seen = workbench.play("assistants", folder, shots, {**data, "mcp": True}, limit=300)["seen"]
        assert "Compile Lens" in " ".join(seen)
    workbench.assert_nothing_is_left()


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


def row(finding: dict[str, Any]) -> str:
    """The row of the tree for a finding: its label and its description."""
    shown = problem(finding)
    code = "" if shown["code"] == finding["kind"] else f"{shown['code']} · "
    return f"{shown['message']} {code}line {shown['line']}"


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
