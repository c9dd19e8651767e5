"""A home, or a folder of the user's own, that a variable moves into a repository is not taken for theirs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from compile_lens.agent.runtime.compiler_variables import COMPILERS, OF_COMPILERS
from compile_lens.agent.runtime.own_compilers import why_not_compile
from compile_lens.agent.sandbox import policy
from compile_lens.state.consent import ConsentStore
from compile_lens.user_folders import state_folder
from compile_lens.workers.brought_compilers import brought_compilers
from compile_lens.workers.cache_health import find_cache_problem
from compile_lens.workers.git import run_git
from compile_lens.workers.search_path import lies_in

pwd = pytest.importorskip("pwd")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the system keeps no list of homes")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The one that the system knows."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setattr(
        "pwd.getpwuid", lambda user: pwd.struct_passwd(("me", "x", user, 0, "", str(folder), "/bin/sh"))
    )
    return folder


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a home, to which the variable leads, and whose programs begin the search path."""
    folder = tmp_path / "clone"
    for name in ("home/.config/git/config", "home/.gitconfig", "bin/g++", "caches/v1/inductor/own/x.so"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("[filter]\n")
    (folder / "bin" / "g++").chmod(0o755)
    for command in (["init", "--quiet"], ["add", "--force", "."]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    monkeypatch.setenv("HOME", str(folder / "home"))
    return folder


@pytest.mark.usefixtures("home")
def test_git_reads_no_settings_there(clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").write_text("#!/bin/sh\nenv\n")
    (tmp_path / "bin" / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin{os.pathsep}{os.environ['PATH']}")
    assert lies_in(clone / "home", [clone])
    assert f"HOME={clone}" not in run_git(clone, ["status"]).stdout.decode()


def test_what_is_allowed_is_not_read_there(clone: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    ConsentStore(clone / "home" / ".local" / "state" / "compile-lens" / "consent").allow(clone)
    assert clone not in ConsentStore.of_user().roots()
    assert state_folder() == home / ".local" / "state" / "compile-lens"
    monkeypatch.setenv("XDG_STATE_HOME", str(clone / "state"))
    assert state_folder() == home / ".local" / "state" / "compile-lens"
    # a repository of one's settings
    (home / ".git").mkdir()
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    assert state_folder() == home / "state" / "compile-lens"


@pytest.mark.usefixtures("clone")
def test_secrets_are_those_of_both(home: Path) -> None:
    for folder in (home, Path(os.environ["HOME"])):
        (folder / ".ssh").mkdir()
    assert {str(home / ".ssh"), str(Path(os.environ["HOME"], ".ssh"))} <= set(policy.secrets())


@pytest.mark.usefixtures("clone")
def test_usual_places_are_secrets_whatever_a_variable_needs_of_them(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / ".ssh" / "inner").mkdir(parents=True)
    for folder in (home / ".ssh", home / ".ssh" / "inner"):
        for variable in ("HOME", "TMPDIR"):
            with monkeypatch.context() as moved:
                moved.setenv(variable, str(folder))
                moved.setattr("tempfile.tempdir", None)
                assert str(home / ".ssh") in policy.secrets()


def test_caches_that_a_repository_brought_are_not_used(clone: Path) -> None:
    problem = find_cache_problem(clone / "caches" / "v1")
    assert problem is not None
    assert problem.is_read_only
    assert find_cache_problem(clone / "others" / "v1") is None


def test_a_compiler_of_any_repository_compiles_nothing_ahead(
    clone: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if OF_COMPILERS.match(name) or name in COMPILERS]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PATH", f"{clone}/bin:/usr/bin:/bin")
    another = str(home / "project")
    brought = brought_compilers(os.environ)
    assert brought == (str(clone / "bin"),)
    assert why_not_compile([another, *brought]) == f"{clone}/bin/g++ is in a workspace"
    named = brought_compilers(
        {"CXX": f"ccache {clone}/bin/g++ -O2", "CPATH": f"/usr/include:{clone}/bin", "PATH": "/bin"}
    )
    assert named == (f"{clone}/bin/g++", f"{clone}/bin")
