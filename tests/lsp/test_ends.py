"""A real server is killed, stopped or closed at random moments of its life: nothing is left of it, of its agents and of their runs.

``PYTHONPATH=tests:tests/lsp python -m tests.lsp.test_ends 500 1 8`` does it 500 times from seed 1, eight at a time, and says how long
the slowest took. Ways that follow are the only ones: ``… 60 1 3 "kill the server" "stop and kill the server"``.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest
from tests.lsp.editor import REAL, Editor, editor
from tests.lsp.test_long_documents import long_text
from tests.processes import VARIABLE, Mark

PROGRAM = """
import subprocess, sys, time
import torch

@torch.compile(backend="eager")
def f(x):
    print("break")
    return x + 1

subprocess.Popen(["sleep", "1000"], start_new_session=True)
for n in range(2, 60):
    f(torch.ones(n))
    time.sleep(0.05)
"""
# what everything must be gone within on a machine that has nothing else to do; a server that still starts has to hear of its end first
LIMIT_S = 5.0
PATIENCE_S = 40.0
WAYS = [
    "kill the server", "close its input", "shut down", "kill the editor",
    "stop the agents", "stop and kill the server", "end by a signal", "type on",
]  # fmt: skip


def send_to(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


async def end(ed: Editor, way: str, parent: asyncio.subprocess.Process, mark: Mark) -> None:
    server = ed.process.pid
    others = [pid for pid in mark.alive() if pid not in (server, parent.pid)]
    assert ed.process.stdin is not None
    if way == "stop the agents":
        send_to(others, signal.SIGSTOP)
        ed.process.stdin.close()
    elif way == "stop and kill the server":
        send_to(others, signal.SIGSTOP)
        ed.process.send_signal(signal.SIGKILL)
    elif way == "kill the server":
        ed.process.send_signal(signal.SIGKILL)
    elif way == "close its input":
        ed.process.stdin.close()
    elif way == "kill the editor":
        parent.kill()
    elif way == "end by a signal":
        ed.process.send_signal(signal.SIGTERM)
    else:
        await ed.begin("shutdown")
        await ed.notify("exit")


async def once(folder: Path, seed: int, limit_s: float, ways: Sequence[str] = WAYS) -> tuple[str, float, float]:
    """One life: the way it ended, after how long, and how long until nothing was left."""
    source, mark = random.Random(seed), Mark()
    way, moment = ways[seed % len(ways)], source.random() * source.choice([1.0, 4.0, 12.0])
    root = folder / "workspace"
    root.mkdir(parents=True)
    file, long = root / "train.py", root / "long.py"
    file.write_text(PROGRAM)
    long.write_text(long_text(20_000))
    os.environ[VARIABLE] = mark.word  # the server of this life inherits it
    try:
        async with editor(folder, REAL) as ed:
            del os.environ[VARIABLE]
            parent = await asyncio.create_subprocess_exec("sleep", "1000")
            life = asyncio.create_task(live(ed, root, file, long, parent.pid, way, source))
            await asyncio.sleep(moment)
            await end(ed, way, parent, mark)
            since = time.monotonic()
            while left := [pid for pid in mark.alive() if pid != parent.pid]:
                took = time.monotonic() - since
                if took > (limit_s if ed.received else PATIENCE_S):
                    told = [(pid, psutil.Process(pid).cmdline()[:4], psutil.Process(pid).status()) for pid in left]
                    raise AssertionError(f"seed {seed}, {way} after {moment:.2f} s: left are {told}")
                await asyncio.sleep(0.05)
            took = time.monotonic() - since
            life.cancel()
            await asyncio.gather(life, return_exceptions=True)
            with contextlib.suppress(ProcessLookupError):
                parent.kill()
            await parent.wait()
    finally:
        os.environ.pop(VARIABLE, None)
        send_to(mark.alive(), signal.SIGKILL)
    return way, moment, took


async def live(ed: Editor, root: Path, file: Path, long: Path, parent: int, way: str, source: random.Random) -> None:
    """What a user does meanwhile."""
    await ed.initialize(root, {"python": sys.executable, "run": {"enabled": "always"}}, processId=parent)
    uri = await ed.open(file)
    other = await ed.open(long)
    for version in range(2, 1_000):
        await ed.insert(other, version, source.randint(0, 9_000), "x = 1\n")
        if version % 20 == 0:
            await ed.save(uri)
        if way == "type on":
            await ed.begin(
                "textDocument/hover", {"textDocument": {"uri": other}, "position": {"line": 5, "character": 6}}
            )
        await asyncio.sleep(0.05)


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")
@pytest.mark.parametrize("seed", [4, 5, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(6, 40))])
async def test_nothing_is_left_whenever_it_ends(tmp_path: Path, seed: int) -> None:
    await once(tmp_path, seed, PATIENCE_S)


def one_life(seed: int, ways: Sequence[str] = WAYS) -> float | None:
    """How long it took until nothing was left; None if something was, which is printed."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            ended, at, needed = asyncio.run(once(Path(folder), seed, PATIENCE_S, ways))
        except AssertionError as problem:
            print(problem, flush=True)
            return None
    print(f"{seed}: {ended} after {at:.2f} s, gone after {needed:.2f} s", flush=True)
    return needed


if __name__ == "__main__":
    count, first, workers = map(int, sys.argv[1:4])
    life = functools.partial(one_life, ways=sys.argv[4:] or WAYS)
    with ProcessPoolExecutor(workers) as pool:
        ends = list(pool.map(life, range(first, first + count)))
    times = [one for one in ends if one is not None]
    within = sum(one <= LIMIT_S for one in times)
    print(
        f"{count} ends: {within} within {LIMIT_S} s, {count - len(times)} left something, the slowest {max(times):.2f} s"
    )
    sys.exit(len(times) < count)
