"""What the sandbox adds to a run, and how long a cancel takes: beside the same run at the level ``full``."""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.table.figure import Figure
from compile_lens.agent.runtime.protocol import RunStarted, SandboxKind
from compile_lens.workers.access import Access, SandboxOptions
from compile_lens.workers.host import Host
from compile_lens.workers.job import EndKind, Job
from compile_lens.workers.wire import Frame

REPEATS = 20
NOTHING = "pass\n"
STUBBORN = """\
import os, signal, time
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
print("ready", flush=True)
while True:
    time.sleep(1)
"""


async def measure() -> list[Figure]:
    """A run of an empty program and a cancel of one that will not end, in each kind of sandbox."""
    with tempfile.TemporaryDirectory() as folder:
        host = Host(sys.executable, {**os.environ, "COMPILE_LENS_CACHE_DIR": folder})
        await host.start()
        kinds = {"full": Job(file="", access=Access.FULL)}
        # without the lower priority, which only tells where the machine is busy
        kinds |= {kind.value: Job(file="", sandbox=SandboxOptions(strongest=kind, niceness=0)) for kind in SandboxKind}
        empty: dict[str, list[float]] = {name: [] for name in kinds}
        for _ in range(REPEATS):  # in turns: what else the machine does meets all of them
            for name, job in kinds.items():
                empty[name].append(await _empty_run(host, _with_file(job, folder, NOTHING)))
        base = statistics.median(empty.pop("full"))
        figures = [
            Figure(f"empty run, `{name}`", statistics.median(taken), "ms", base, "without a sandbox")
            for name, taken in empty.items()
        ]
        for name, job in kinds.items():
            cancels = [await _cancel(host, _with_file(job, folder, STUBBORN)) for _ in range(5)]
            figures.append(Figure(f"cancel, `{name}`", statistics.median(cancels), "ms"))
        await host.close()
    return figures


def _with_file(job: Job, folder: str, source: str) -> Job:
    file = Path(folder) / "program.py"
    file.write_text(source)
    return Job(file=str(file), access=job.access, sandbox=job.sandbox)


async def _empty_run(host: Host, job: Job) -> float:
    started = time.perf_counter()
    end = await host.run(job, lambda _: None)
    assert end.kind is EndKind.FINISHED, end
    return 1e3 * (time.perf_counter() - started)


async def _cancel(host: Host, job: Job) -> float:
    started = asyncio.Event()

    def listen(frame: Frame) -> None:
        if isinstance(frame, RunStarted):
            started.set()

    running = asyncio.create_task(host.run(job, listen))
    await started.wait()  # what the run before it printed is forgotten by now
    while not host.output_so_far():
        await asyncio.sleep(0.01)
    began = time.perf_counter()
    await host.cancel()
    await running
    return 1e3 * (time.perf_counter() - began)
