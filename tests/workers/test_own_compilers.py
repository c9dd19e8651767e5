"""What we compile ourselves, outside of a sandbox, is compiled by no compiler of a workspace, nor of a folder where others may write."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from compile_lens.agent.runtime import own_compilers
from compile_lens.agent.runtime.compiler_variables import COMPILERS, OF_COMPILERS
from compile_lens.agent.runtime.own_compilers import why_not_compile
from compile_lens.pipeline.analyze import analyze
from compile_lens.workers.environment_report import ask_environment
from compile_lens.workers.host import Host
from compile_lens.workers.job import Depth, Job

pwd = pytest.importorskip("pwd")
pytestmark = pytest.mark.skipif(os.name == "nt", reason="scripts are made programs")
STARTED = "started"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home beside the workspaces of a test, and the variables of a plain shell."""
    for name in [name for name in os.environ if OF_COMPILERS.match(name) or name in COMPILERS]:
        monkeypatch.delenv(name)
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setattr(
        "pwd.getpwuid", lambda user: pwd.struct_passwd(("me", "x", user, 0, "", str(folder), "/bin/sh"))
    )
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    return folder


def compiler_in(folder: Path) -> Path:
    """A program named as torch's compiler that leaves a file beside it when it is started."""
    folder.mkdir(parents=True)
    program = folder / "g++"
    program.write_text(f'#!/bin/sh\necho "$0" >> {folder}/{STARTED}\nexec /usr/bin/g++ "$@"\n')
    program.chmod(0o755)
    return program


def test_one_of_the_system_or_of_the_users_own_is_used(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert why_not_compile([]) == ""
    program = compiler_in(home / "bin")
    monkeypatch.setenv("PATH", f"{home}/bin:/usr/bin")
    assert why_not_compile([str(home / "project")]) == ""
    assert why_not_compile([str(home)]) == ""  # its owner's file lies there, too
    monkeypatch.setenv("CXX", str(program))
    assert why_not_compile([]) == ""


def test_one_of_the_workspace_is_not(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = tmp_path / "work"
    program = compiler_in(workspace / "bin")
    monkeypatch.setenv("CXX", str(program))
    assert why_not_compile([str(workspace)]) == f"{program} is in a workspace"
    monkeypatch.delenv("CXX")
    (home / "link").symlink_to(workspace / "bin")
    for folder in (workspace / "bin", home / "link"):
        monkeypatch.setenv("PATH", f"{folder}:/usr/bin")
        assert why_not_compile([str(workspace)]) == f"{folder}/g++ is in a workspace"
        assert str(folder) not in own_compilers.variables([str(workspace)])["PATH"]
    (workspace / ".git").mkdir()
    assert "is in a workspace" in why_not_compile([str(workspace / "package" / "models")])


def test_one_where_others_may_write_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = compiler_in(tmp_path / "tools")
    monkeypatch.setenv("PATH", f"{tmp_path}/tools:/usr/bin")
    program.parent.chmod(0o777)
    assert why_not_compile([]) == f"others may write to {program.parent}, where {program} is"
    program.parent.chmod(0o1777)
    assert why_not_compile([]) == ""


@pytest.mark.parametrize("name", ["CPATH", "CPLUS_INCLUDE_PATH", "COMPILER_PATH", "LD_PRELOAD", "CXXFLAGS"])
def test_headers_and_parts_of_a_compiler_are_not_those_of_a_workspace(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, f"-I{tmp_path}/clone/include" if name == "CXXFLAGS" else f"/usr/include:{tmp_path}/clone")
    assert why_not_compile([str(tmp_path / "clone")]).endswith(f"and {name} names it")
    assert why_not_compile([str(tmp_path / "other")]) == ""


@pytest.mark.skipif(sys.platform != "linux", reason="nothing is compiled ahead of a run elsewhere")
async def test_nothing_is_compiled_ahead_of_a_run_and_the_run_says_so(tmp_path: Path) -> None:
    workspace = tmp_path / "work"
    program = compiler_in(workspace / "bin")
    file = workspace / "train.py"
    file.write_text("print('ran')\n")
    variables = {
        **os.environ,
        "COMPILE_LENS_CACHE_DIR": str(tmp_path / "cache"),
        "PATH": f"{workspace}/bin:/usr/bin:/bin",
    }
    host = Host(sys.executable, variables)
    try:
        outcome = await analyze(host, Job(str(file), depth=Depth.INDUCTOR, timeout_s=100))
    finally:
        await host.close()
    assert outcome.output == "ran\n"
    assert f"Unavailable: headers that are compiled once for all runs ({program} is in a workspace)." in outcome.notes
    assert not (workspace / "bin" / STARTED).exists()


def test_the_doctor_starts_none_of_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = tmp_path / "work"
    program = compiler_in(workspace / "bin")
    monkeypatch.chdir(workspace)
    facts = asyncio.run(ask_environment(sys.executable, {**os.environ, "CXX": str(program)}))
    assert facts.compiler is not None
    assert facts.compiler.problem == f"{program} is in a workspace"
    assert not (workspace / "bin" / STARTED).exists()
