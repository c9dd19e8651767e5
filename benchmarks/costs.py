"""What a process costs: seconds by the clock, seconds of a processor, memory at its peak; the children that it waited for included."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

# A process takes over the peak memory of the one that starts it, on Linux: so a small one does that, and says what was used.
LAUNCHER = """
import json, os, resource, subprocess, sys, time
began = time.perf_counter()
ended = subprocess.run(sys.argv[2:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
clock = time.perf_counter() - began
used = resource.getrusage(resource.RUSAGE_CHILDREN)
said = ended.stderr.decode(errors="replace")[-2000:]
with open(sys.argv[1], "w") as file:
    json.dump([clock, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, ended.returncode, said], file)
"""


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
    with tempfile.TemporaryDirectory() as scratch:
        answer = Path(scratch, "answer")
        subprocess.run(
            [sys.executable, "-S", "-c", LAUNCHER, str(answer), *command],
            cwd=folder,
            # as an installed command, which has its compiled modules
            env={**without_bytecode_off(), **(environment or {})},
            check=True,
        )
        clock, processor, memory, code, said = json.loads(answer.read_text(encoding="utf-8"))
    if check and code:
        raise RuntimeError(f"exit code {code} of {' '.join(command)}\n{said}")
    return Cost(clock, processor, memory)


def without_bytecode_off() -> dict[str, str]:
    """The environment, in which modules of the product are compiled once, and not in each process."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def compile_lens(*arguments: str) -> list[str]:
    """The command line of Compile Lens in this interpreter, as its users write it."""
    command = Path(sys.executable).with_name("compile-lens")
    return [str(command), *arguments] if command.exists() else [sys.executable, "-m", "compile_lens", *arguments]


def typical(costs: Iterable[Cost]) -> Cost:
    """The median of times, and the most memory."""
    known = list(costs)
    return Cost(
        statistics.median(one.clock for one in known),
        statistics.median(one.processor for one in known),
        max(one.memory for one in known),
    )
