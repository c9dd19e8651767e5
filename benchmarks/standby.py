"""How soon the standby can run again after a run, and after one that was canceled: from its end to the first line of the next."""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.costs import cost
from benchmarks.editing import write_program
from benchmarks.table.figure import Figure, Of
from compile_lens.agent.runtime.protocol import RunStarted
from compile_lens.workers.host import Host
from compile_lens.workers.job import Job
from compile_lens.workers.wire import Frame

REPEATS = 5
PROGRAM = "import torch\n\n\n@torch.compile\ndef f(x):\n    return x + 1\n\n\nf(torch.ones(3))\n"
ENDLESS = "import time\n\nwhile True:\n    time.sleep(1)\n"
# a user who saves again so soon does not wait
GOAL_S = 3.0


async def measure() -> list[Figure]:
    """Beside an import of torch, which a new process would need."""
    importing = statistics.median(cost([sys.executable, "-c", "import torch"]).clock for _ in range(3))
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "folder")
        host = Host(sys.executable, {**os.environ, "COMPILE_LENS_CACHE_DIR": f"{scratch}/cache"})
        began = time.perf_counter()
        await host.start()
        cold = time.perf_counter() - began
        file = write_program(folder, "train.py", PROGRAM)
        endless = write_program(folder, "endless.py", ENDLESS)
        after_run, after_cancel = [], []
        for _ in range(REPEATS):
            await _started_after(host, file)
            after_run.append(await _started_after(host, file))
            running = asyncio.create_task(host.run(Job(str(endless)), lambda _: None))
            await asyncio.sleep(0.5)
            await host.cancel()
            await running
            after_cancel.append(await _started_after(host, file))
        await host.close()
    beside = "import torch"
    return [
        Figure("after a run", statistics.median(after_run), "s", importing, beside, GOAL_S, Of.VALUE),
        Figure("after a canceled run", statistics.median(after_cancel), "s", importing, beside, GOAL_S, Of.VALUE),
        Figure("a new standby", cold, "s", importing, beside, GOAL_S, Of.VALUE),
    ]


async def _started_after(host: Host, file: Path) -> float:
    began = time.perf_counter()
    started: list[float] = []

    def listen(frame: Frame) -> None:
        if isinstance(frame, RunStarted):
            started.append(time.perf_counter() - began)

    await host.start()
    await host.run(Job(str(file)), listen)
    return started[0]
