"""The command as people use it in a terminal: folders, patterns, watching, defaults of a project, completion, help and the manual."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from tests.command import Warm

from compile_lens.cli import check as watching
from compile_lens.cli.examples import EXAMPLES
from compile_lens.cli.man_page import man_page
from compile_lens.cli.targets import find_targets
from compile_lens.cli.verbs import VERBS, cli
from compile_lens.documents.gitignore import python_files

pytestmark = pytest.mark.usefixtures("warm_command")
ROOT = Path(__file__).resolve().parents[2]
COMPILES = """\
import torch
from helper import double


@torch.compile(backend="eager")
def step(x):
    print("breaks")
    return double(x)


step(torch.ones(3))
"""
FILES = (
    "a.py", "b.txt", "build/x.py", "src/build/y.py", "src/gen/keep.py", "src/gen/z.py", "logs/deep/er/l.py", "doc/frotz/f.py",
    "doc/a/frotz.py", "foo[1].py", "foo1.py", "temp_1.py", "temp_12.py", "src/inner/out.py", "src/inner/other.py", "with space.py",
    "x/y/z/w.py", "bang!.py", "!bang.py",
)  # fmt: skip
RULES = (
    "# a comment", "build/", "src/gen/*", "!src/gen/keep.py", "logs/**", "doc/frotz", "temp_?.py", r"foo\[1\].py", "x/**/w.py",
    r"\!*.py", "space.py  ",
)  # fmt: skip
IGNORES = {".gitignore": "\n".join(RULES), "src/inner/.gitignore": "/out.py\n"}


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@pytest.mark.skipif(shutil.which("git") is None, reason="compares with git")
def test_a_folder_is_read_as_git_reads_it(tmp_path: Path) -> None:
    write(tmp_path, dict.fromkeys(FILES, "") | IGNORES)
    git = ["git", "-c", "core.excludesFile=/dev/null", "-C", str(tmp_path)]
    subprocess.run([*git, "init", "-q"], check=True)
    listed = subprocess.run(
        [*git, "ls-files", "-z", "-co", "--exclude-standard"], check=True, capture_output=True, text=True
    )
    expected = sorted(name for name in listed.stdout.split("\0") if name.endswith(".py"))
    assert sorted(path.relative_to(tmp_path).as_posix() for path in python_files(tmp_path, set())) == expected
    # the rules above a folder hold in it, too
    inner = sorted(path.relative_to(tmp_path).as_posix() for path in python_files(tmp_path / "src", set()))
    assert inner == [name for name in expected if name.startswith("src/")]


def test_targets_are_files_patterns_and_what_compiles_in_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "venv").mkdir()
    (tmp_path / "venv" / "pyvenv.cfg").touch()
    write(
        tmp_path,
        {"one.py": COMPILES, "pkg/two.py": COMPILES, "pkg/plain.py": "import torch\n", "venv/three.py": COMPILES},
    )
    monkeypatch.chdir(tmp_path)
    found = find_targets(["."])
    assert [os.path.relpath(file) for file in found.files] == ["one.py", os.path.join("pkg", "two.py")]  # noqa: PTH118
    assert (found.passed_over, found.empty) == (1, ())
    assert [os.path.relpath(file) for file in find_targets(["p*/**/*.py"]).files] == ["pkg/plain.py", "pkg/two.py"]
    assert find_targets(["*.x", "venv/nothing.py"]).empty == ("*.x",)
    assert find_targets(["pkg/plain.py"]).files == (str(tmp_path / "pkg" / "plain.py"),)  # named: taken as it is


def test_a_folder_is_checked_with_the_defaults_of_its_project(tmp_path: Path) -> None:
    project = '[tool.compile-lens]\nfail-on = "warning"\n[tool.compile-lens.severity]\nGB0059 = "error"\n'
    write(
        tmp_path, {"train.py": COMPILES, "helper.py": "def double(x):\n    return x * 2\n", "pyproject.toml": project}
    )
    result = Warm(["check", ".", "--format", "json"], tmp_path)
    (run,) = result.runs
    assert [(found["code"], found["severity"]) for found in run["findings"]] == [("GB0059", "error")]
    assert result.code == 1
    assert "skipped 1 file without torch.compile." in result.err
    assert Warm(["check", "train.py", "--fail-on", "never", "--severity", "GB0059=off"], tmp_path).code == 0


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("dept = 'aot'", "has no option 'dept'. Did you mean depth?"),
        ("python = 'evil/python'", "has no option 'python'."),
        ("no-sandbox = true", "has no option 'no-sandbox'."),
        ("severity = 3", "severity must be a table"),
    ],
)
def test_a_project_does_not_choose_what_runs_or_open_the_sandbox(tmp_path: Path, line: str, words: str) -> None:
    write(tmp_path, {"pyproject.toml": f"[tool.compile-lens]\n{line}\n"})
    result = Warm(["predict", "x.py"], tmp_path)
    assert (result.code, words in result.err) == (2, True), result.err


@pytest.mark.parametrize("verb", ["check", "predict", "entries", "vary", "logs", "bisect"])
def test_a_file_that_is_not_there_is_named_as_the_user_did(tmp_path: Path, verb: str) -> None:
    result = Warm([verb, "x.py"], tmp_path)
    assert (result.code, result.err) == (2, "compile-lens: x.py: no such file.\n")


async def test_a_change_of_a_file_or_of_what_it_imports_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "POLL_S", 0.01)
    monkeypatch.setattr(watching, "SETTLE_S", 0.01)
    write(
        tmp_path, {"train.py": COMPILES, "helper.py": "import deeper\n", "deeper.py": "", "other.py": "import torch\n"}
    )
    train, other = str(tmp_path / "train.py"), str(tmp_path / "other.py")
    seen: asyncio.Queue[list[str]] = asyncio.Queue()
    task = asyncio.create_task(watching.watch_files([train, other], seen.put))
    await asyncio.sleep(0.1)
    for name, expected in (("deeper.py", [train]), ("other.py", [other]), ("helper.py", [train])):
        (tmp_path / name).write_text(f"import deeper  # {name} changed\n")
        assert await asyncio.wait_for(seen.get(), 30) == expected
    task.cancel()
    assert seen.empty()


def test_verbs_and_options_are_completed(tmp_path: Path) -> None:
    def complete(words: str) -> list[str]:
        environment = {
            **os.environ,
            "_COMPILE_LENS_COMPLETE": "bash_complete",
            "COMP_WORDS": words,
            "COMP_CWORD": str(len(words.split())),
        }
        command = [sys.executable, "-m", "compile_lens"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=tmp_path, check=False)
        return done.stdout.split()

    assert {"plain,check", "plain,vary"} <= set(complete("compile-lens "))


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_ends_with_examples_that_parse(verb: str) -> None:
    command = cli.get_command(click.Context(cli), verb)
    assert command is not None
    help_text = command.get_help(click.Context(command, info_name=verb))
    for what, example in EXAMPLES[verb]:
        assert what in help_text and example in help_text
        words = shlex.split(example)
        arguments = words[2 : words.index("--")] if "--" in words else words[2:]
        assert words[:2] == ["compile-lens", verb]
        if isinstance(command, click.Group):
            assert arguments[0] in command.commands
        else:
            command.make_context(verb, list(arguments), obj=())


@pytest.mark.parametrize(
    "arguments",
    [
        ["cache", "stat"],
        ["consent", "list"],
        ["explain", "--bundled", "GB0059"],
        ["logs", "--kind", "recompile", "x.py"],
    ],
)
def test_every_verb_that_tells_something_tells_it_as_json(tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "x.py").touch()
    result = Warm([*arguments, "--format", "json"], tmp_path)
    assert (result.code, result.err) == (0, "")
    assert json.loads(result.out) is not None
    assert "--format" in Warm([*arguments[: 2 if arguments[0] in ("cache", "consent") else 1], "--help"], tmp_path).out


def test_the_manual_page_is_that_of_this_version() -> None:
    assert (ROOT / "docs" / "compile-lens.1").read_text() == man_page(), (
        "run: python -m compile_lens.cli.man_page > docs/compile-lens.1"
    )


@pytest.mark.skipif(shutil.which("groff") is None, reason="formats with groff")
def test_the_manual_page_is_good_roff() -> None:
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-wall", "-Wbreak", "-z"],
        input=man_page(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
