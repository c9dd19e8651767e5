"""How often an idle server and its standby wake up: context switches of their threads while nobody does anything."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import tempfile
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from benchmarks.editing import analyzed, server, write_program
from benchmarks.edits import program
from benchmarks.memory import BARE
from benchmarks.table.figure import Absent, Figure, Of

# by then, what follows a run is over, and the server has begun to read torch in the background, once for each torch
SETTLE_S, WATCH_S = 25.0, 20.0


async def measure() -> list[Figure]:
    """Per minute, of the server and of each process that it keeps; and processor time."""
    if not Path("/proc/self/task").exists():
        raise Absent("context switches are read from /proc")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "folder")
        file = write_program(folder, "train.py", program(1_000))
        async with server(folder, command=[sys.executable, "-c", BARE]) as editor:
            await editor.open(file)
            await asyncio.sleep(2)
            bare = await _wake_ups([psutil.Process(editor.process.pid)])
        async with server(folder, {"fixes": {"verify": False}}) as editor:
            since = editor.mark()
            await editor.open(file)
            await analyzed(editor, since)
            await asyncio.sleep(SETTLE_S)
            own = psutil.Process(editor.process.pid)
            while len(own.children()) > 1:  # the standby stays; what reads torch ends
                await asyncio.sleep(2)
            await asyncio.sleep(2)
            kept = own.children(recursive=True)
            before = sum(_seconds(process) for process in [own, *kept])
            ours, theirs = await asyncio.gather(_wake_ups([own]), _wake_ups(kept))
            used = max(0.0, sum(_seconds(process) for process in [own, *kept]) - before)
    return [
        Figure("the server, per minute", ours, "", bare, "a bare pygls server", 0, Of.ADDED),
        Figure("its standby and other processes, per minute", theirs, "", goal=0, of=Of.VALUE),
        Figure("processor time of all, per minute", 1e3 * used * 60 / WATCH_S, "ms"),
    ]


async def _wake_ups(processes: list[psutil.Process]) -> float:
    before = {process.pid: _switches(process) for process in processes}
    await asyncio.sleep(WATCH_S)
    # one that has ended meanwhile wakes up no more
    return sum(max(0, _switches(process) - before[process.pid]) for process in processes) * 60 / WATCH_S


def _switches(process: psutil.Process) -> int:
    total = 0
    for status in Path(f"/proc/{process.pid}/task").glob("*/status"):
        with contextlib.suppress(OSError):
            lines = status.read_text().splitlines()
            total += sum(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches"))
    return total


def _seconds(process: psutil.Process) -> float:
    with contextlib.suppress(psutil.NoSuchProcess):
        times = process.cpu_times()
        return float(times.user + times.system)
    return 0.0
