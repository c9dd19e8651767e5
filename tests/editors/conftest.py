"""Editors of this machine, each with the ready-made configuration of `editors/`, in an environment of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from processes import Mark

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """\
import torch


@torch.compile(backend="eager")
def step(x):
    print("in the middle")
    return x + 1


step(torch.ones(3))
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A workspace with one program that breaks at line 6."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pyproject.toml").touch()
    (folder / "train.py").write_text(PROGRAM)
    return folder


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Without the user's configuration, state and caches. The command `compile-lens` is that of this checkout."""
    names = ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")
    places = {name: str(tmp_path / name.lower()) for name in names}
    for place in places.values():
        Path(place).mkdir()
    commands = tmp_path / "commands"
    commands.mkdir()
    command = commands / "compile-lens"
    command.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT / "server"} exec {sys.executable} -m compile_lens "$@"\n')
    command.chmod(0o755)
    path = os.pathsep.join([str(commands), os.environ["PATH"]])
    return {**os.environ, **places, "PATH": path, "VIRTUAL_ENV": str(Path(sys.executable).parents[1])}


@pytest.fixture
def mark() -> Mark:
    """Known to the editor and to every process that it starts."""
    return Mark()


@pytest.fixture
def run(project: Path, environment: dict[str, str], mark: Mark) -> Callable[[list[str], Path], dict[str, Any]]:
    """Runs an editor with a script that writes what the editor shows to TOLD, as JSON; returns that."""

    def run_editor(command: list[str], configuration: Path) -> dict[str, Any]:
        told = project.parent / "told.json"
        given = {"CONFIGURATION": str(configuration), "PROGRAM": str(project / "train.py"), "TOLD": str(told)}
        environment_of_run = {**mark.environment, **environment, **given}
        done = subprocess.run(
            command, env=environment_of_run, capture_output=True, text=True, timeout=300, check=False, cwd=project
        )
        assert told.exists(), done.stderr
        said: dict[str, Any] = json.loads(told.read_text())
        return {**said, "errors": done.stderr}

    return run_editor
