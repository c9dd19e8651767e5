"""The command that an agent gets for a job (see agent/standby.py). Needs the standard library alone."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from compile_lens.workers.job import Job


def command_of(job: Job) -> dict[str, object]:
    """What an agent is sent to do ``job``: one line of JSON."""
    return {
        "op": "run",
        "file": job.file,
        "text": job.text,
        "argv": list(job.argv),
        "cwd": job.cwd or str(Path(job.file).parent),
        "depth": job.depth.value,
        "plan": _plan(job),
        "timeout_s": job.timeout_s,
        "env": job.env,
        "compare": job.compare,
        "task": job.task,
        "capture": None if job.capture is None else asdict(job.capture),
        "vary": None if job.vary is None else asdict(job.vary),
    }


def _plan(job: Job) -> dict[str, object] | None:
    # what looks for inputs must know how long it may
    return {"seconds": job.timeout_s / 2, **job.plan} if job.plan else None
