"""The command that an agent gets for a job (see agent/runtime/standby.py). Needs the standard library alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from compile_lens.workers.job import Job, Supply
from compile_lens.workers.level import Level
from compile_lens.workers.wire import MAGIC


def command_of(job: Job, sandbox: Mapping[str, object] | None = None, magic: bytes = MAGIC) -> dict[str, object]:
    """What an agent is sent to do ``job``: one line of JSON.

    ``sandbox`` is what it is told of that (workers/sandbox_fields.py), None for none; ``magic`` begins each frame of the run.
    """
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
        "stand_in": job.stand_in.value,
        # a run as the user's own changes nothing of theirs
        "missing_weights": (Supply.OFF if job.level is Level.FULL else job.missing_weights).value,
        "task": job.task,
        "capture": None if job.capture is None else asdict(job.capture),
        "vary": None if job.vary is None else asdict(job.vary),
        "sandbox": sandbox,
        "magic": magic.hex(),
    }


def _plan(job: Job) -> dict[str, object] | None:
    # what looks for inputs must know how long it may
    return {"seconds": job.timeout_s / 2, **job.plan} if job.plan else None
