"""Which Python runs a file: the environment of its folder, whichever tool made it."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from compile_lens.pipeline.analyze import analyze
from compile_lens.workers.host import Host
from compile_lens.workers.interpreter import InterpreterError, find_interpreter, torch_version, tracked_interpreters
from compile_lens.workers.job import Job
from compile_lens.workers.project_environments import environments_of
from compile_lens.workers.search_path import on_search_path
from compile_lens.workers.tracked_environment import is_tracked


def make(prefix: Path, torch: str | None = "2.13.0+cpu") -> str:
    """An environment at ``prefix``, as far as it is looked at."""
    python = prefix / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch(mode=0o755)
    (prefix / "pyvenv.cfg").touch()
    if torch is not None:
        package = prefix / "lib" / "python3.12" / "site-packages" / "torch"
        package.mkdir(parents=True)
        (package / "__init__.py").touch()
        (package / "version.py").write_text(f"__all__ = ['__version__']\n__version__ = '{torch}'\n")
    return str(python)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project in which no environment is active."""
    for variable in (
        "VIRTUAL_ENV",
        "CONDA_PREFIX",
        "UV_PROJECT_ENVIRONMENT",
        "POETRY_CACHE_DIR",
        "POETRY_VIRTUALENVS_PATH",
    ):
        monkeypatch.delenv(variable, raising=False)
    folder = tmp_path / "project"
    (folder / "package").mkdir(parents=True)
    return folder


@pytest.mark.skipif(os.name == "nt", reason="environments are made as on Linux and macOS")
class TestEnvironments:
    @pytest.mark.parametrize("name", [".venv", "venv", "env", ".conda", ".pixi/envs/default", ".pixi/envs/cuda"])
    def test_of_a_folder(self, folder: Path, name: str) -> None:
        python = make(folder / name)
        assert find_interpreter(folder / "package" / "train.py", [folder]) == python

    def test_that_uv_is_told_to_use(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("UV_PROJECT_ENVIRONMENT", "made-by-uv")
        make(folder / ".venv")
        python = make(folder / "made-by-uv")
        assert find_interpreter(folder / "train.py", [folder]) == python

    def test_of_poetry(self, folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("POETRY_CACHE_DIR", str(tmp_path / "cache"))
        (folder / "pyproject.toml").touch()
        digest = base64.urlsafe_b64encode(hashlib.sha256(os.fsencode(folder.resolve())).digest()).decode()[:8]
        make(tmp_path / "cache" / "virtualenvs" / "project-AAAAAAAA-py3.12")
        python = make(tmp_path / "cache" / "virtualenvs" / f"project-{digest}-py3.12")
        assert find_interpreter(folder / "train.py", [folder]) == python

    @pytest.mark.parametrize("variable", ["POETRY_VIRTUALENVS_PATH", "POETRY_CACHE_DIR"])
    def test_of_poetry_is_not_looked_for_in_the_current_folder(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, variable: str
    ) -> None:
        monkeypatch.setenv(variable, "named")
        monkeypatch.chdir(folder)
        (folder / "pyproject.toml").touch()
        assert all(environment.is_absolute() for environment in environments_of(folder))
        digest = base64.urlsafe_b64encode(hashlib.sha256(os.fsencode(folder.resolve())).digest()).decode()[:8]
        for place in (folder / "named", folder / "named" / "virtualenvs"):
            make(place / f"project-{digest}-py3.12")
        assert not any("named" in str(environment) for environment in environments_of(folder))

    def test_with_torch_goes_before_one_without(self, folder: Path) -> None:
        make(folder / ".venv", torch=None)
        python = make(folder / ".pixi" / "envs" / "default")
        assert find_interpreter(folder / "train.py", [folder]) == python

    def test_nearer_to_the_file_goes_first(self, folder: Path) -> None:
        make(folder / ".venv")
        python = make(folder / "package" / ".venv")
        assert find_interpreter(folder / "package" / "train.py", [folder]) == python


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="files of another user are made")
@pytest.mark.parametrize("mode", [0o1777, 0o755])
def test_what_another_user_has_put_where_anybody_may_is_not_run(folder: Path, mode: int) -> None:
    make(folder / ".venv")
    os.chown(folder / ".venv", 4321, 4321)
    folder.chmod(mode)
    found = find_interpreter(folder / "package" / "train.py", [folder])
    assert (found == str(folder / ".venv" / "bin" / "python")) is (mode == 0o755)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="files of another user are made")
def test_a_link_of_another_user_leads_to_no_environment(folder: Path) -> None:
    """It leads to the folder around, in which each name is that of a folder with programs that anybody may have put there."""
    (folder / ".pixi").mkdir()
    (folder / ".pixi" / "envs").symlink_to(folder.parent)
    python = make(folder)
    for place in (folder / ".pixi", folder / ".pixi" / "envs", Path(python).parent):
        os.chown(place, 4321, 4321, follow_symlinks=False)
    folder.chmod(0o1777)
    assert find_interpreter(folder / "train.py", [folder]) == sys.executable


@pytest.mark.skipif(os.name == "nt", reason="a script is made a program")
def test_no_program_of_the_current_folder_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in (tmp_path, tmp_path / "bin"):
        folder.mkdir(exist_ok=True)
        (folder / "git").touch(mode=0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", os.pathsep.join(["", ".", str(tmp_path / "bin")]))
    assert on_search_path("git") == str(tmp_path / "bin" / "git")
    monkeypatch.setenv("PATH", os.pathsep.join(["", "."]))
    assert on_search_path("git") is None
    with pytest.raises(InterpreterError):
        find_interpreter(tmp_path / "train.py", [tmp_path], "git")


def test_the_version_of_torch_is_read_without_an_import(tmp_path: Path) -> None:
    assert torch_version(make(tmp_path / "with")) == "2.13.0+cpu"
    assert torch_version(make(tmp_path / "without", torch=None)) is None


def test_a_chosen_interpreter_must_be_there(folder: Path) -> None:
    with pytest.raises(InterpreterError, match="no-such-python"):
        find_interpreter(folder / "train.py", [folder], "no-such-python")


class TestWhatARepositoryBrought:
    """An environment that git tracks is left out: whoever made the repository chose what it runs."""

    @pytest.fixture(autouse=True)
    def repository(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        for variable in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"):
            monkeypatch.delenv(variable, raising=False)
        git(folder, "init", "--quiet")

    @pytest.mark.parametrize("tracked", ["bin/python", "pyvenv.cfg", "lib/python3.12/site-packages/torch/version.py"])
    def test_a_file_of_the_environment(self, folder: Path, tracked: str) -> None:
        python = make(folder / ".venv")
        file = folder / "package" / "train.py"
        assert find_interpreter(file, [folder]) == python
        git(folder, "add", "--force", f".venv/{tracked}")
        assert find_interpreter(file, [folder]) != python
        assert list(tracked_interpreters(file, [folder])) == [python]
        assert find_interpreter(file, [folder], python) == python

    def test_the_next_is_taken(self, folder: Path) -> None:
        theirs, own = make(folder / ".venv"), make(folder / "venv")
        git(folder, "add", ".venv")
        assert find_interpreter(folder / "train.py", [folder]) == own
        assert list(tracked_interpreters(folder / "train.py", [folder])) == [theirs]

    @pytest.mark.parametrize("link", [".venv", ".venv/bin", ".venv/bin/python"])
    def test_a_link_that_leads_to_it(self, folder: Path, tmp_path: Path, link: str) -> None:
        python = make(folder / ".venv")
        (folder / link).rename(folder / "elsewhere")
        (folder / link).symlink_to(folder / "elsewhere")
        assert find_interpreter(folder / "train.py", [folder]) == python
        git(folder, "add", link)
        assert find_interpreter(folder / "train.py", [folder]) != python

    def test_a_program_of_the_repository_that_a_link_leads_to(self, folder: Path) -> None:
        python = Path(make(folder / ".venv"))
        (folder / "tools").mkdir()
        python.rename(folder / "tools" / "python")
        python.symlink_to("../../tools/python")
        git(folder, "add", "tools")
        assert find_interpreter(folder / "train.py", [folder]) != str(python)

    def test_a_submodule(self, folder: Path, tmp_path: Path) -> None:
        other = tmp_path / "other"
        python = Path(make(other)).relative_to(other)
        git(other, "init", "--quiet")
        git(other, "add", "--force", ".")
        git(other, "commit", "--quiet", "--message", "theirs")
        git(folder, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), ".venv")
        assert find_interpreter(folder / "train.py", [folder]) != str(folder / ".venv" / python)

    def test_an_environment_of_ones_own_stays(self, folder: Path, tmp_path: Path) -> None:
        python = make(folder / "env[1]" / ".venv")
        (folder / "env1").mkdir()
        (folder / "env1" / ".venv").touch()
        (folder / "env[1]" / ".venv" / ".gitignore").touch()
        (folder / ".VENV").mkdir()
        (folder / ".VENV" / "notes").touch()
        git(folder, "add", "env1", ".VENV", "env[1]/.venv/.gitignore")
        assert find_interpreter(folder / "env[1]" / "train.py", [folder]) == python
        own = make(folder / ".venv")
        assert find_interpreter(folder / "train.py", [folder]) == own

    def test_neither_hooks_nor_monitors_of_the_repository_are_started(
        self, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        python = make(folder / ".venv")
        program = tmp_path / "monitor"
        program.write_text(f"#!/bin/sh\ntouch {tmp_path}/started\n")
        program.chmod(0o755)
        git(folder, "add", ".venv/pyvenv.cfg")
        git(folder, "config", "core.fsmonitor", str(program))
        # as in a hook of another repository
        monkeypatch.setenv("GIT_DIR", str(tmp_path))
        assert find_interpreter(folder / "train.py", [folder]) != python
        assert not (tmp_path / "started").exists()

    def test_an_environment_that_is_active_in_the_current_folder(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        python = make(folder / ".venv")
        git(folder, "add", ".venv")
        monkeypatch.chdir(folder)
        monkeypatch.setenv("VIRTUAL_ENV", ".venv")
        assert not Path(find_interpreter(folder / "train.py", [folder])).is_relative_to(folder)
        assert Path(find_interpreter(folder / "train.py", [folder])).is_absolute()
        monkeypatch.setenv("VIRTUAL_ENV", str(folder / ".venv"))
        assert find_interpreter(folder / "train.py", [folder]) == python

    def test_a_failure_of_git_is_not_remembered(self, folder: Path) -> None:
        python = make(folder / ".venv")
        git(folder, "add", ".venv")
        configuration = folder / ".git" / "config"
        configured = configuration.read_text()
        git(folder, "rm", "--quiet", "--cached", "-r", ".venv")
        configuration.write_text("no configuration")
        assert find_interpreter(folder / "train.py", [folder]) != python
        assert list(tracked_interpreters(folder / "train.py", [folder])) == [python]
        configuration.write_text(configured)
        assert find_interpreter(folder / "train.py", [folder]) == python

    @pytest.mark.parametrize(
        ("variable", "value"),
        [
            ("GIT_LITERAL_PATHSPECS", "1"),
            ("GIT_OBJECT_DIRECTORY", "/nonexistent"),
            ("GIT_CONFIG_COUNT", "x"),
            ("GIT_INDEX_FILE", "/nonexistent/index"),
            ("GIT_COMMON_DIR", "/nonexistent"),
        ],
    )
    def test_no_variable_of_git_hides_what_it_tracks(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
    ) -> None:
        python, own = make(folder / ".venv"), make(folder / "env[1]*")
        git(folder, "add", ".venv")
        monkeypatch.setenv(variable, value)
        assert is_tracked(folder, folder / ".venv")
        assert find_interpreter(folder / "train.py", [folder]) != python
        assert not is_tracked(folder, Path(own).parent.parent)

    def test_an_outcome_names_it_and_how_to_choose_it(self, folder: Path) -> None:
        python = make(folder / ".venv")
        git(folder, "add", ".venv")
        job = Job(str(folder / "train.py"), workspace=str(folder))

        def notes(used: str) -> tuple[str, ...]:
            return asyncio.run(analyze(Host(used), job)).notes

        (note,) = notes(sys.executable)
        assert note.startswith(f"{python} was not used, because git tracks it, or cannot say whether it does.")
        assert "--python" in note
        assert notes(python) == ()

    def test_without_git_it_is_as_ever(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        python = make(folder / ".venv")
        git(folder, "add", ".venv")
        monkeypatch.setenv("PATH", "")
        assert find_interpreter(folder / "train.py", [folder]) == python


def git(folder: Path, *arguments: str) -> None:
    who = ["-c", "user.name=me", "-c", "user.email=me@example.com"]
    subprocess.run(["git", "-C", str(folder), *who, *arguments], check=True)
