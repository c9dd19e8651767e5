"""The job that settings make of a file."""

from __future__ import annotations

from pathlib import Path

from compile_lens.pipeline.launch import find_launch
from compile_lens.settings.settings import Settings
from compile_lens.workers.job import Job
from compile_lens.workers.level import Budget, Level, Sandbox


def make_job(settings: Settings, path: str, text: str | None, folder: str, level: Level) -> Job:
    """A run of the file ``path`` (of ``text`` in its place, if that is given) in ``folder``."""
    run, sandbox, budget = settings.run, settings.sandbox, settings.budget
    job = Job(
        file=path,
        depth=run.depth,
        text=text,
        argv=run.arguments,
        cwd=folder,
        timeout_s=run.timeout,
        stand_in=run.stand_in,
        missing_weights=run.missing_weights,
        level=level,
        sandbox=Sandbox(allow_write=sandbox.allow_write, network=sandbox.network, gpu=sandbox.gpu),
        budget=Budget(memory_gib=budget.memory, cpu_s=budget.cpu, disk_gib=budget.disk, idle_s=budget.idle),
    )
    launch = find_launch(Path(path), Path(folder)) if not run.arguments else None
    return job if launch is None else launch.of(job)
