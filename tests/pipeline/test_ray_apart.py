"""Ray's processes import nothing from a workspace, and its programs still see the folder and PYTHONPATH of the command."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from compile_lens.analysis.filters import Filters
from compile_lens.analysis.outcome import Outcome
from compile_lens.pipeline import ray_cluster
from compile_lens.pipeline.file_analysis import EntrySelection, FileRequest
from compile_lens.pipeline.ray_cluster import Cluster
from compile_lens.workers.job import Job


class RayHere:
    """Ray's part that is used, with its tasks in this process. Remembers from where it would have imported."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str]] = []
        self.exceptions = SimpleNamespace(RayError=RuntimeError, RayTaskError=ValueError)

    def _look(self, path: str) -> None:
        self.seen.append((str(Path.cwd()), path))

    def init(self, **_: object) -> None:
        self._look(os.environ["PYTHONPATH"])

    def remote(self, function: Callable[..., list[Outcome]]) -> RayHere:
        self.function = function
        return self

    def options(self, *, runtime_env: dict[str, dict[str, str]], **_: object) -> SimpleNamespace:
        self._look(runtime_env["env_vars"]["PYTHONPATH"])
        return SimpleNamespace(remote=lambda *given: partial(self.function, *given))

    @staticmethod
    def wait(running: list[Any], num_returns: int) -> tuple[list[Any], list[Any]]:
        return running[:num_returns], running[num_returns:]

    @staticmethod
    def get(reference: Any) -> list[Outcome]:
        found: list[Outcome] = reference()
        return found

    def shutdown(self) -> None:
        """There is nothing."""


async def test_nothing_of_the_workspace_is_imported_by_ray(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = str(tmp_path / "tools")
    (tmp_path / "tools" / "tool-1.0.dist-info").mkdir(parents=True)
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    monkeypatch.chdir(workspace)
    given = os.pathsep.join(["", tools, "src"])
    monkeypatch.setenv("PYTHONPATH", given)
    ray, analyzed = RayHere(), []
    monkeypatch.setitem(sys.modules, "ray", ray)

    def analyze(self: object, job: Job, request: FileRequest, start: ray_cluster.CommandStart) -> list[Outcome]:
        os.chdir("/")
        monkeypatch.delenv("PYTHONPATH")
        start.take()
        analyzed.append((str(Path.cwd()), os.environ["PYTHONPATH"]))
        return []

    monkeypatch.setattr(ray_cluster._Node, "analyze", analyze)
    request = FileRequest(None, EntrySelection("auto", ()), Filters())
    await Cluster().analyze([Job(str(workspace / "train.py"))], request, lambda *_: None)
    (started_in, started_with), (_, tasks_with) = ray.seen
    assert not Path(started_in).is_relative_to(tmp_path)
    assert (started_with, tasks_with) == (tools, os.pathsep.join([ray_cluster.PACKAGES, tools]))
    assert analyzed == [(str(workspace), given)]
    assert (str(Path.cwd()), os.environ["PYTHONPATH"]) == (str(workspace), given)
