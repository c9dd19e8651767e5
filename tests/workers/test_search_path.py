"""Which programs of the search path are started: none that a repository brought, whose folders tools for its variables add."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from compile_lens.workers.interpreter import InterpreterError, find_interpreter
from compile_lens.workers.tracked_environment import is_tracked

pytestmark = pytest.mark.skipif(os.name == "nt", reason="scripts are made programs")


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with programs, which is the current folder, and whose `bin` begins the search path."""
    folder = tmp_path / "clone"
    (folder / "bin").mkdir(parents=True)
    for name in ("git", "python-x"):
        _program(folder / "bin" / name, tmp_path / "started")
    (folder / ".venv" / "bin").mkdir(parents=True)
    (folder / ".venv" / "pyvenv.cfg").touch()
    _program(folder / ".venv" / "bin" / "python-x", tmp_path / "started")
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PATH", os.pathsep.join([str(folder / "bin"), str(folder / ".venv/bin"), os.environ["PATH"]]))
    return folder


def _program(place: Path, started: Path) -> None:
    place.write_text(f"#!/bin/sh\ntouch {started}\n")
    place.chmod(0o755)


def _git_of(path: list[str]) -> Path:
    return next(place for folder in path if (place := Path(folder, "git")).exists())


def _add(clone: Path, name: str) -> None:
    git = _git_of(os.environ["PATH"].split(os.pathsep)[2:])
    subprocess.run([git, "add", "--force", name], cwd=clone, check=True)


@pytest.mark.parametrize("through", ["bin", "../link", "../linked"])
def test_git_is_none_of_the_repository(
    clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, through: str
) -> None:
    (tmp_path / "link").symlink_to(clone / "bin")
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "git").symlink_to(clone / "bin" / "git")
    _add(clone, ".venv")
    path = os.environ["PATH"].split(os.pathsep)[2:]
    monkeypatch.setenv("PATH", os.pathsep.join([str(clone / through), *path]))
    monkeypatch.chdir("/")
    assert is_tracked(clone, clone / ".venv")
    monkeypatch.chdir(clone)
    # another repository is asked of from here
    other = tmp_path / "other"
    (other / ".venv").mkdir(parents=True)
    subprocess.run([_git_of(path), "init", "--quiet"], cwd=other, check=True)
    assert not is_tracked(other, other / ".venv")
    assert not (tmp_path / "started").exists()


def test_an_interpreter_is_none_that_the_repository_brought(clone: Path) -> None:
    """Something else that is tracked beside it does no harm: an installer's own folder may be a repository."""
    _add(clone, "bin/git")
    file = clone / "program.py"
    assert find_interpreter(file, [clone], "python-x") == str(clone / "bin" / "python-x")
    _add(clone, "bin/python-x")
    assert find_interpreter(file, [clone], "python-x") == str(clone / ".venv" / "bin" / "python-x")
    _add(clone, ".venv/pyvenv.cfg")
    with pytest.raises(InterpreterError):
        find_interpreter(file, [clone], "python-x")


def test_an_interpreter_is_none_that_a_link_of_the_repository_leads_to(clone: Path, tmp_path: Path) -> None:
    (clone / "bin" / "python-x").rename(tmp_path / "python-x")
    (clone / "bin" / "python-x").symlink_to(tmp_path / "python-x")
    _add(clone, "bin/python-x")
    assert find_interpreter(clone / "program.py", [clone], "python-x") == str(clone / ".venv" / "bin" / "python-x")
