"""What a variable names in a workspace is neither loaded nor started by helper processes of ours: git, and questions to an interpreter."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from compile_lens.workers.git import run_git
from compile_lens.workers.loaded_before import without
from compile_lens.workers.syntax_question import ask_for_syntax_error

pytestmark = pytest.mark.skipif(os.name == "nt", reason="scripts are made programs")
ELSEWHERE = "/usr/bin/true"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A repository that has brought the folder `bin`."""
    folder = tmp_path / "clone"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "tool").touch()
    for command in (["init", "--quiet"], ["add", "bin"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    return folder


@pytest.mark.parametrize(
    "name", ["BROWSER", "EDITOR", "PAGER", "GIT_SSH_COMMAND", "PYTHONSTARTUP", "SSH_ASKPASS", "GIT_PROXY_COMMAND"]
)
@pytest.mark.parametrize(
    "value", ["{}/tool", "env -i {}/tool %s", 'sh -c "{}/tool"', "A={}/tool run", "firefox:{}/tool"]
)
def test_a_command_that_has_a_program_of_the_workspace_is_none(name: str, value: str, tmp_path: Path) -> None:
    def is_theirs(place: Path) -> bool:
        return place.is_relative_to(tmp_path)

    assert without({name: value.format(tmp_path)}, is_theirs) == {name: ""}
    assert without({name: value.format("/opt/bin"), "OTHER": str(tmp_path)}, is_theirs) == {}
    assert without({name: "run -i ~/key -f $HOME/settings"}, is_theirs, keeps_relative=False) == {}
    assert without({name: "bin/tool -x"}, is_theirs) == {}
    assert without({name: "bin/tool -x"}, is_theirs, keeps_relative=False) == {name: ""}


@pytest.mark.parametrize(
    "name",
    [
        "OPENSSL_CONF",
        "OPENSSL_MODULES",
        "GCONV_PATH",
        "OMP_TOOL_LIBRARIES",
        "_PYTHON_SYSCONFIGDATA_PATH",
        "HSA_TOOLS_LIB",
    ],
)
def test_files_that_have_libraries_loaded_are_left_out(name: str, tmp_path: Path) -> None:
    assert without({name: f"{tmp_path}{os.pathsep}/opt"}, lambda place: place == tmp_path) == {name: "/opt"}


@pytest.mark.parametrize("name", ["BASH_ENV", "UR_ADAPTERS_FORCE_LOAD", "XPTI_SUBSCRIBERS", "NCCL_NET_PLUGIN"])
def test_what_shells_and_drivers_load_is_none_of_a_workspace(name: str, tmp_path: Path) -> None:
    given = {name: f"/opt/x,{tmp_path}/lib.so"}
    assert without(given, lambda place: place.is_relative_to(tmp_path)) == {name: ""}
    assert without({name: "/opt/x,/opt/y"}, lambda place: place.is_relative_to(tmp_path)) == {}


def test_a_locale_is_no_folder_of_a_workspace(tmp_path: Path) -> None:
    given = {"LC_ALL": f"{tmp_path}/de_DE", "LANG": "en_US.UTF-8", "LOCPATH": str(tmp_path)}
    left_out = without(given, lambda place: place.is_relative_to(tmp_path), keeps_relative=False)
    assert left_out == {"LC_ALL": "", "LOCPATH": ""}


@pytest.mark.parametrize("theirs", ["{}/lib", "{}/$LIB", "{}/${{LIB}}/x", "$ORIGIN/../lib"])
def test_the_loader_separates_and_fills_in_more_than_others(theirs: str, tmp_path: Path) -> None:
    named = theirs.format(tmp_path)
    for name in ("LD_LIBRARY_PATH", "LD_PRELOAD"):
        kept = without({name: f"/opt/x;{named};/opt/$LIB"}, lambda place: place.is_relative_to(tmp_path))
        assert kept == {name: f"/opt/x{os.pathsep}/opt/$LIB"}


def test_git_starts_no_program_of_the_repository_and_loads_none_of_its_folder(
    clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").write_text("#!/bin/sh\nenv\n")
    (tmp_path / "bin" / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin{os.pathsep}{os.environ['PATH']}")
    theirs = str(clone / "bin" / "tool")
    for name in ("GIT_SSH", "GIT_ASKPASS", "PAGER", "EDITOR"):
        monkeypatch.setenv(name, theirs)
    monkeypatch.setenv("GIT_SSH_COMMAND", f"{ELSEWHERE} -o ProxyCommand={theirs}")
    monkeypatch.setenv("SSH_ASKPASS", ELSEWHERE)
    monkeypatch.setenv("LD_LIBRARY_PATH", "bin::/opt")
    monkeypatch.setenv("XDG_CONFIG_HOME", ".config")
    monkeypatch.chdir(clone)
    shown = dict(line.split("=", 1) for line in run_git(clone, ["status"]).stdout.decode().splitlines() if "=" in line)
    named = ("GIT_SSH", "GIT_ASKPASS", "GIT_SSH_COMMAND", "PAGER", "EDITOR", "SSH_ASKPASS")
    assert {name: shown[name] for name in named if name in shown} == {"SSH_ASKPASS": ELSEWHERE}
    assert shown["LD_LIBRARY_PATH"] == "/opt"
    assert "XDG_CONFIG_HOME" not in shown
    monkeypatch.setenv("XDG_CONFIG_HOME", str(clone / ".config"))
    assert f"{clone}/.config" not in run_git(clone, ["status"]).stdout.decode()


def test_a_question_to_an_interpreter_loads_no_library_of_the_repository(
    clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = tmp_path / "said"
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\necho "$LD_LIBRARY_PATH$BASH_ENV" > {said}\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    monkeypatch.setenv("LD_LIBRARY_PATH", f"{clone}/bin{os.pathsep}{tmp_path}")
    # as where a program that finds an interpreter is a script of bash
    monkeypatch.setenv("BASH_ENV", f"{clone}/bin/tool")
    problem = asyncio.run(ask_for_syntax_error(str(python), "x.py", "def\n"))
    assert problem is not None
    assert problem.line == 1
    assert said.read_text() == f"{tmp_path}\n"
