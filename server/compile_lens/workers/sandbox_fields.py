"""What the agent is told of a run's sandbox."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from compile_lens.workers.caches import private_cache_environment
from compile_lens.workers.job import Job
from compile_lens.workers.level import Level


def sandbox_fields(job: Job, scratch: str, environment: Mapping[str, str]) -> dict[str, object] | None:
    """The sandbox of a job in words of the agent's (``agent/sandbox/policy.py``); None at the level ``full``.

    Makes the folders of the private caches. ``scratch`` is where the agent makes a folder of the run's own.
    """
    if job.level is not Level.ANALYSE:
        return None
    sandbox, budget, timeout_s = job.sandbox, job.budget, job.timeout_s
    kept = job.capture.exact_folder if job.capture is not None else None
    caches = [Path(path) for path in private_cache_environment(environment).values()]
    for folder in caches:
        folder.mkdir(parents=True, exist_ok=True)
    return {
        "strongest": sandbox.strongest.value,
        "scratch": scratch,
        "caches": [str(folder) for folder in caches],
        "allow_write": [*sandbox.allow_write, *([kept] if kept is not None else [])],
        "network": sandbox.network,
        "gpu": sandbox.gpu,
        "niceness": sandbox.niceness,
        "memory_bytes": budget.memory_bytes(),
        "disk_bytes": budget.disk_bytes(),
        "cpu_s": budget.cpu_seconds(timeout_s),
        "processes": budget.processes,
    }
