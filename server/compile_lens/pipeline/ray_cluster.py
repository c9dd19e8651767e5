"""Analyzes files on a Ray cluster: one task for each file, which Ray places, and places again where a node is lost.

Ray is optional (``pip install compile-lens[ray]``). Files have the same paths on each node: the cluster shares a file system.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import importlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compile_lens.analysis.outcome import Outcome
from compile_lens.pipeline.file_analysis import FileRequest, Hosts
from compile_lens.workers.import_path import VARIABLE, fixed
from compile_lens.workers.job import Job

# so often a file is tried again after its worker or node is lost
RETRIES = 3
PACKAGES = str(Path(__file__).resolve().parents[2])


class ClusterError(Exception):
    """Ray cannot be used; its text is one sentence for the user."""


@dataclass(frozen=True, slots=True)
class CommandStart:
    """Where the command was started, and with which PYTHONPATH: programs are run as from there."""

    folder: str
    import_path: str | None

    def take(self) -> None:
        """Make it that of this process, which imports from nothing else by then."""
        with contextlib.suppress(OSError):  # this node does not have the folder
            os.chdir(self.folder)
        if self.import_path is None:
            os.environ.pop(VARIABLE, None)
        else:
            os.environ[VARIABLE] = self.import_path


@dataclass(frozen=True, slots=True)
class Cluster:
    """Where tasks run and what each reserves. ``address`` is Ray's: '' starts a cluster on this machine for as long as it takes."""

    address: str = ""
    cpus: float = 1.0
    gpus: float = 0.0

    async def analyze(
        self, jobs: Sequence[Job], request: FileRequest, done: Callable[[int, list[Outcome]], None]
    ) -> None:
        """Analyze ``jobs``; ``done`` gets the number of each with its outcomes, in any order. Raises ClusterError."""
        ray = _ray()
        start = CommandStart(str(Path.cwd()), os.environ.get(VARIABLE))
        try:
            with _elsewhere():
                ray.init(
                    address=self.address or None, log_to_driver=False, include_dashboard=None if self.address else False
                )
        except (ConnectionError, RuntimeError, ValueError) as error:
            where = f"at {self.address} " if self.address else ""
            raise ClusterError(f"A Ray cluster {where}cannot be used: {_lines(error)[0].rstrip('.')}.") from None
        try:
            absolute = {**os.environ, **fixed(os.environ)}.get(VARIABLE)
            path = os.pathsep.join([PACKAGES, *filter(None, [absolute])])
            # a task may run where another one was lost: it has no effect but its outcomes
            task = ray.remote(_analyze_here).options(
                num_cpus=self.cpus,
                num_gpus=self.gpus,
                max_retries=RETRIES,
                scheduling_strategy="SPREAD",
                runtime_env={"env_vars": {VARIABLE: path}},
            )
            running = {task.remote(job, request, start): index for index, job in enumerate(jobs)}
            while running:
                ready, _ = await asyncio.to_thread(ray.wait, list(running), num_returns=1)
                for reference in ready:
                    index = running.pop(reference)
                    done(index, _outcomes(ray, reference, jobs[index], request))
        finally:
            ray.shutdown()


@contextlib.contextmanager
def _elsewhere() -> Iterator[None]:
    """While Ray starts: all of its processes import from the folder where it is started, which is often a workspace."""
    here, changed = Path.cwd(), fixed(os.environ)
    given = {name: os.environ[name] for name in (VARIABLE, *changed) if name in os.environ}
    os.chdir(PACKAGES)
    os.environ.update(changed)
    try:
        yield
    finally:
        os.chdir(here)
        os.environ.update(given)


def _ray() -> Any:
    try:
        return importlib.import_module("ray")
    except ImportError:
        raise ClusterError("Ray is not installed: pip install 'compile-lens[ray]'.") from None


def _outcomes(ray: Any, reference: Any, job: Job, request: FileRequest) -> list[Outcome]:
    try:
        found: list[Outcome] = ray.get(reference)
    except ray.exceptions.RayError as error:
        # the first line of what a task raised says where it ran
        is_of_task = isinstance(error, ray.exceptions.RayTaskError)
        said = _lines(error)[-1] if is_of_task else _lines(error)[0]
        return [request.failed(job, f"{job.file} could not be analyzed on the cluster: {said.rstrip('.')}.")]
    return found


def _lines(error: BaseException) -> list[str]:
    return [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]


class _Node:
    """What the tasks of one worker process share: Ray keeps the process for the next file, and so its standby is warm."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._hosts: dict[str, Hosts] = {}
        atexit.register(self._close)

    def analyze(self, job: Job, request: FileRequest, start: CommandStart) -> list[Outcome]:
        start.take()
        # a standby sees the GPUs that Ray gave to the task for which it was started
        hosts = self._hosts.setdefault(os.environ.get("CUDA_VISIBLE_DEVICES", ""), Hosts())
        return self.loop.run_until_complete(request.analyze(job, hosts.of(0)))

    def _close(self) -> None:
        for hosts in self._hosts.values():
            self.loop.run_until_complete(hosts.close())


_node: _Node | None = None


def _analyze_here(job: Job, request: FileRequest, start: CommandStart) -> list[Outcome]:
    """The task of one file."""
    global _node
    _node = _node or _Node()
    return _node.analyze(job, request, start)
