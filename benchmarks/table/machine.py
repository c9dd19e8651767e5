"""The machine that a run of the benchmarks is made on."""

from __future__ import annotations

import functools
import json
import os
import platform
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import psutil  # type: ignore[import-untyped]

FACTS = """
import json
try:
    import torch
except ImportError:
    print(json.dumps(["", ""]))
else:
    print(json.dumps([torch.__version__, torch.cuda.get_device_name() if torch.cuda.is_available() else ""]))
"""


@dataclass(frozen=True, slots=True)
class Machine:
    """``load`` is the average number of busy processes in the minute before the run: figures by the clock need a quiet machine."""

    processor: str
    cores: int
    memory_gb: int
    system: str
    python: str
    torch: str
    gpu: str
    load: float

    @property
    def name(self) -> str:
        """A name for files: what is slow to change about the machine."""
        kind = self.gpu or f"{self.cores} cores"
        return re.sub(r"\W+", "-", f"{kind} torch {self.torch}".lower()).strip("-")

    @property
    def sentence(self) -> str:
        """What it is, in one line."""
        gpu = f", {self.gpu}" if self.gpu else ""
        return (
            f"{self.processor}, {self.cores} cores, {self.memory_gb} GB{gpu}; {self.system}; Python {self.python}, "
            f"torch {self.torch or 'not installed'}"
        )


@functools.cache
def this_machine() -> Machine:
    """The machine that this process runs on. A process of its own imports torch, once."""
    answer = subprocess.run([sys.executable, "-c", FACTS], capture_output=True, text=True, check=False).stdout
    torch, gpu = json.loads(answer.strip().rpartition("\n")[2] or '["", ""]')
    return Machine(
        processor=_processor(),
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        memory_gb=round(psutil.virtual_memory().total / 2**30),
        system=f"{platform.system()} {platform.release()}",
        python=platform.python_version(),
        torch=torch,
        gpu=gpu,
        load=round(psutil.getloadavg()[0], 1),
    )


def _processor() -> str:
    facts = Path("/proc/cpuinfo")
    if facts.exists():
        named = re.search(r"^model name\s*:\s*(.+)$", facts.read_text(encoding="utf-8"), re.MULTILINE)
        if named and named[1] != "unknown":
            return named[1]
    return platform.processor() or platform.machine()
