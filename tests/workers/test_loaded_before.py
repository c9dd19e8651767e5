"""What the loader of libraries and Python load before any line of a program is nothing that a repository brought."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from compile_lens.workers.git import run_git
from compile_lens.workers.host_environment import HostEnvironment
from compile_lens.workers.import_path import fixed, whole
from compile_lens.workers.job import Job


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A repository that has brought `lib`, and not `build`, which its user has made."""
    folder = tmp_path / "clone"
    for name in ("lib", "build"):
        (folder / name).mkdir(parents=True)
        (folder / name / "librt.so.1").touch()
    for command in (["init", "--quiet"], ["add", "lib"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    return folder


@pytest.mark.parametrize(
    "name",
    [
        "LD_LIBRARY_PATH",
        "LD_AUDIT",
        "DYLD_LIBRARY_PATH",
        "DYLD_FALLBACK_FRAMEWORK_PATH",
        "DYLD_INSERT_LIBRARIES",
        "PYTHONPYCACHEPREFIX",
        "PYTHONUSERBASE",
        "PYTHONHOME",
    ],
)
def test_what_a_repository_brought_is_left_out(clone: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "link").symlink_to(clone / "lib")
    own = [str(clone / "build"), str(tmp_path)]
    brought = [str(clone / "lib"), str(clone / "lib" / "librt.so.1"), str(tmp_path / "link"), str(clone)]
    given = {name: os.pathsep.join([*brought, *own])}
    assert fixed(given) == {name: os.pathsep.join(own)}
    assert whole(given) == given
    of_the_user = {name: os.pathsep.join(own)}
    assert (fixed(of_the_user), whole(of_the_user)) == ({}, {})


@pytest.mark.skipif(os.name == "nt", reason="the loader is that of Linux")
def test_libraries_are_separated_by_blanks_too(clone: Path) -> None:
    theirs, own = clone / "lib" / "librt.so.1", clone / "build" / "librt.so.1"
    assert fixed({"LD_PRELOAD": f"{theirs} {own}"}) == {"LD_PRELOAD": str(own)}
    assert fixed({"LD_PRELOAD": str(theirs)}) == {"LD_PRELOAD": ""}


def test_the_program_has_its_variables_whole(clone: Path, tmp_path: Path) -> None:
    given = {"COMPILE_LENS_CACHE_DIR": str(tmp_path / "cache"), "LD_LIBRARY_PATH": str(clone / "lib")}
    environment = HostEnvironment(given)
    assert environment.of_agent()["LD_LIBRARY_PATH"] == ""
    assert environment.completed(Job(str(clone / "program.py"))).env["LD_LIBRARY_PATH"] == str(clone / "lib")


@pytest.mark.skipif(os.name == "nt", reason="a script is made a program")
def test_git_loads_no_library_of_the_repository(clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").write_text('#!/bin/sh\necho "$LD_LIBRARY_PATH"\n')
    (tmp_path / "bin" / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("LD_LIBRARY_PATH", os.pathsep.join([str(clone / "lib"), str(clone / "build"), str(tmp_path)]))
    assert run_git(clone, ["status"]).stdout.decode().strip() == str(tmp_path)
