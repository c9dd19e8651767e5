"""What a process costs: seconds by the clock, seconds of a processor, memory at its peak; the children that it waited for included."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Cost:
    """``memory`` is in MB."""

    clock: float
    processor: float
    memory: float


def cost(
    command: list[str],
    folder: Path | str | None = None,
    environment: Mapping[str, str] | None = None,
    check: bool = False,
) -> Cost:
    """Run ``command`` in ``folder``. Raises RuntimeError for another exit code than 0, if that is to be checked."""
    with subprocess.Popen(
        command,
        cwd=folder,
        env=None if environment is None else {**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE if check else subprocess.DEVNULL,
    ) as process:
        began = time.perf_counter()
        said = process.stderr.read().decode(errors="replace") if process.stderr is not None else ""
        _, status, used = os.wait4(process.pid, 0)
        clock = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
    if check and process.returncode:
        raise RuntimeError(f"exit code {process.returncode} of {' '.join(command)}\n{said[-2000:]}")
    return Cost(clock, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def compile_lens(*arguments: str) -> list[str]:
    """The command line of Compile Lens in this interpreter."""
    return [sys.executable, "-m", "compile_lens", *arguments]


def typical(costs: Iterable[Cost]) -> Cost:
    """The median of times, and the most memory."""
    known = list(costs)
    return Cost(
        statistics.median(one.clock for one in known),
        statistics.median(one.processor for one in known),
        max(one.memory for one in known),
    )
