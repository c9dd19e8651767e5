"""Runs a generated script as a user would (``python FILE``), and reports its exit code and output."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from compile_lens.temporary_folders import temporary_folder
from compile_lens.workers.caches import private_cache_environment
from compile_lens.workers.output import BoundedOutput
from compile_lens.workers.tied import tied

# torch's own bisector and minifier would take part in the run
LEFT_OUT = (
    "TORCH_BISECT_",
    "TORCHDYNAMO_REPRO_",
    "TORCH_COMPILE_BACKEND",
    "TORCH_TRACE",
    "TORCH_LOGS",
    "TORCH_COMPILE_DEBUG",
)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a script ended. ``code`` is its exit code, negative for a signal; ``timed_out``: it was ended by the time limit."""

    code: int
    output: str
    seconds: float
    timed_out: bool = False

    @property
    def last_line(self) -> str:
        """The last line that it printed."""
        return (self.output.strip().splitlines() or [""])[-1]


async def run_script(python: str, file: Path, timeout_s: float, variables: Mapping[str, str] | None = None) -> Ended:
    """Run ``file``; its whole process tree is gone when this returns, and so are its temporary files. Canceling ends it.

    Torch and triton get caches of ours; ``variables`` are added to the environment. Raises OSError if ``python`` cannot be started.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(LEFT_OUT)}
    started = time.monotonic()
    path = os.path.abspath(file)  # noqa: PTH100, ASYNC240 - the process runs in another folder; no link is followed
    with temporary_folder() as folder:
        process = await asyncio.create_subprocess_exec(
            python,
            path,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=file.parent,
            env={**kept, **private_cache_environment(os.environ), "TMPDIR": folder, **(variables or {})},
            **tied(new_session=True),
        )
        output = BoundedOutput()
        timed_out = False
        try:
            await asyncio.wait_for(_read(process, output), timeout_s)
        except TimeoutError:
            timed_out = True
        finally:
            _end(process)
            code = await process.wait()
    return Ended(code, output.text(), time.monotonic() - started, timed_out)


async def _read(process: asyncio.subprocess.Process, output: BoundedOutput) -> None:
    assert process.stdout is not None
    while data := await process.stdout.read(1 << 16):
        output.add(data)
    await process.wait()


def _end(process: asyncio.subprocess.Process) -> None:
    """End the process and what it started."""
    if sys.platform != "win32":
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
    elif process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
