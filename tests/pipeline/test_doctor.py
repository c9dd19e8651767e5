"""The doctor's checks: what is said of healthy and of broken surroundings, each with a remedy where there is one."""

from __future__ import annotations

import asyncio
import copy
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.sandbox_kinds import LANDLOCK, NAMESPACES, offered, poor_interpreter

from compile_lens.agent.runtime.environment_facts import environment_facts
from compile_lens.pipeline.doctor import Check, CheckState, examine, to_markdown, worst
from compile_lens.workers.environment_report import ask_environment
from compile_lens.workers.host import HostError

# as the agent says it
HEALTHY: dict[str, dict[str, Any]] = {
    "python": {"version": "3.12.4", "executable": "/usr/bin/python3", "free_threaded": False},
    "environment": {},
    "torch": {"version": "2.11.0+cu130", "folder": "/lib/torch"},
    "dynamo": {},
    "torch_internals": {"declared": 90, "missing": {}},
    "triton": {"version": "3.6.0"},
    "gpu": {"built_for": "CUDA 13.0", "names": ["NVIDIA H200"], "usable": True},
    "compiler": {"command": "g++", "path": "/usr/bin/g++", "version": "g++ 12.2.0", "builds": True},
    "users_cache": {"folder": "/tmp/torchinductor_me", "bisect_status": None},
    "sandbox": {"kind": "overlay", "reason": "", "open_ends": []},
}


def examined(facts: dict[str, dict[str, Any]], cache: Path) -> list[Check]:
    read = environment_facts(json.dumps(facts))
    assert read is not None
    return examine(read, cache)


def check(cache: Path, name: str, **changed: dict[str, Any]) -> Check:
    facts = copy.deepcopy(HEALTHY)
    for section, entries in changed.items():
        facts[section] = {**facts[section], **entries} if "error" not in entries else entries
    (found,) = [entry for entry in examined(facts, cache) if entry.name == name]
    return found


def test_nothing_is_amiss_where_everything_is_there(tmp_path: Path) -> None:
    checks = examined(HEALTHY, tmp_path)
    assert {entry.state for entry in checks} == {CheckState.OK}
    assert [entry.remedy for entry in checks if entry.remedy] == []
    assert "- ✓ **GPU**: NVIDIA H200; torch is built for CUDA 13.0; triton 3.6.0" in to_markdown(checks)


@pytest.mark.parametrize(
    ("name", "state", "says", "changed"),
    [
        ("Python", CheckState.PROBLEM, "3.9.1", {"python": {"version": "3.9.1"}}),
        ("Python", CheckState.WARNING, "3.15", {"python": {"version": "3.15.0a1"}}),
        ("torch", CheckState.PROBLEM, "2.5.1", {"torch": {"version": "2.5.1"}}),
        (
            "torch",
            CheckState.PROBLEM,
            "not installed",
            {"torch": {"error": "No module named 'torch'", "missing": True}},
        ),
        ("torch", CheckState.PROBLEM, "libcudnn", {"torch": {"error": "libcudnn.so.9: cannot open", "missing": False}}),
        ("Dynamo", CheckState.PROBLEM, "3.15", {"dynamo": {"error": "RuntimeError: Python 3.15+ not yet supported"}}),
        (
            "torch internals",
            CheckState.WARNING,
            "has no `torch._dynamo.x`, `torch._dynamo.y`, needed for the region of each frame",
            {
                "torch_internals": {
                    "missing": dict.fromkeys(("torch._dynamo.x", "torch._dynamo.y"), "the region of each frame")
                }
            },
        ),
        ("C++ compiler", CheckState.WARNING, "not on the search path", {"compiler": {"path": None}}),
        (
            "C++ compiler",
            CheckState.WARNING,
            "was not started: /w/g++ is in a workspace",
            {"compiler": {"builds": None, "problem": "/w/g++ is in a workspace"}},
        ),
        ("C++ compiler", CheckState.WARNING, "omp.h", {"compiler": {"builds": False, "problem": "fatal error: omp.h"}}),
        ("GPU", CheckState.NOTE, "none is available", {"gpu": {"usable": False, "names": []}}),
        ("GPU", CheckState.WARNING, "triton is missing", {"triton": {"error": "ModuleNotFoundError: triton"}}),
        (
            "Unfinished bisection",
            CheckState.WARNING,
            "/bisect exists",
            {"users_cache": {"bisect_status": "backend=inductor"}},
        ),
        ("Unfinished bisection", CheckState.WARNING, "TORCH_BISECT_MAX", {"environment": {"TORCH_BISECT_MAX": "3"}}),
        (
            "Sandbox",
            CheckState.NOTE,
            "landlock: the kernel blocks writes outside a scratch folder, secrets and the network; not confined: sockets "
            "(no namespaces)",
            {"sandbox": {"kind": "landlock", "reason": "no namespaces", "open_ends": ["sockets"]}},
        ),
        (
            "Sandbox",
            CheckState.WARNING,
            "not confined: native code, programs",
            {"sandbox": {"kind": "python", "open_ends": ["native code", "programs"]}},
        ),
        ("Sandbox", CheckState.WARNING, "cannot be set up", {"sandbox": {"error": "OSError: no"}}),
        ("Environment", CheckState.NOTE, "TORCH_LOGS=+dynamo", {"environment": {"TORCH_LOGS": "+dynamo"}}),
    ],
)
def test_what_is_amiss_is_told(
    tmp_path: Path, name: str, state: CheckState, says: str, changed: dict[str, dict[str, Any]]
) -> None:
    found = check(tmp_path, name, **changed)
    assert found.state is state
    assert says in found.says
    assert (found.remedy != "") == (state in (CheckState.WARNING, CheckState.PROBLEM))


def test_caches_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert check(tmp_path / "folder" / "v1", "Caches").state is CheckState.OK  # it can be made
    blocked = check(tmp_path / "file" / "v1", "Caches")
    assert "is a file" in blocked.says and blocked.state is CheckState.PROBLEM
    if os.geteuid() != 0:
        tmp_path.chmod(0o500)
        assert check(tmp_path / "v1", "Caches").state is CheckState.PROBLEM
        tmp_path.chmod(0o700)
    assert not list(tmp_path.glob(".compile-lens*"))


@pytest.mark.slow
def test_the_real_surroundings_of_this_interpreter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiler is really tried, and a bisection's state of the user's is found and left where it is."""
    monkeypatch.chdir(tmp_path)  # that of the tests is in this repository
    state = tmp_path / "cache" / "bisect" / "bisect_status.txt"
    state.parent.mkdir(parents=True)
    state.write_text("backend=inductor\nsubsystem=lowerings\n")
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "cache"), "TORCH_LOGS": "+dynamo"}
    facts = asyncio.run(ask_environment(sys.executable, environment))
    checks = {entry.name: entry for entry in examine(facts, tmp_path / "ours")}
    assert worst(list(checks.values())) is CheckState.WARNING
    assert str(state.parent) in checks["Unfinished bisection"].remedy
    assert checks["C++ compiler"].state is CheckState.OK
    assert checks["torch"].state is checks["Dynamo"].state is CheckState.OK
    assert "TORCH_LOGS=+dynamo" in checks["Environment"].says
    assert checks["Sandbox"].says.startswith(f"{offered('overlay')[0]}: ")
    assert state.read_text().startswith("backend=inductor")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="takes away what Linux has")
def test_the_sandbox_is_tried_as_this_interpreter_can_enter_it(tmp_path: Path) -> None:
    refused = {**NAMESPACES, **LANDLOCK}
    facts = asyncio.run(ask_environment(poor_interpreter(tmp_path, refused), os.environ))
    (found,) = [entry for entry in examine(facts, tmp_path / "ours") if entry.name == "Sandbox"]
    assert found.state is CheckState.WARNING and "unshare" in found.says
    assert "not confined: native code, programs that it starts" in found.says


@pytest.mark.parametrize("python", ["/no/such/python", "/bin/true"])
def test_an_interpreter_that_is_none(python: str) -> None:
    with pytest.raises(HostError, match=python):
        asyncio.run(ask_environment(python, os.environ))
