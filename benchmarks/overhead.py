"""What trace sink, instruments and sandbox add to a run at the depth ``inductor``, beside the same program in plain Python.

The program times itself, after a first compilation: what the standby has imported and warmed is no part of it.
"""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.editing import python_path, write_program
from benchmarks.table.figure import Figure
from compile_lens.workers.host import Host
from compile_lens.workers.job import Depth, EndKind, Job

REPEATS = 5
PROGRAM = """\
import time

import torch
from torch import nn

torch.manual_seed(0)
torch.compile(lambda x: torch.relu(x) + 1)(torch.ones(3, requires_grad=True)).sum().backward()
model = nn.Sequential(*(nn.Sequential(nn.Linear(64, 64), nn.GELU(), nn.LayerNorm(64)) for _ in range(4)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


@torch.compile
def loss_of(batch):
    return model(batch).square().mean()


began = time.perf_counter()
for size in (32, 32, 48, 64):
    loss_of(torch.randn(size, 64)).backward()
    optimizer.step()
    optimizer.zero_grad()
compiled = time.perf_counter() - began
for _ in range(500):
    loss_of(torch.randn(64, 64)).backward()
print(f"compiled {compiled} all {time.perf_counter() - began}", flush=True)
"""
TOLD = re.compile(r"compiled (\S+) all (\S+)")


async def measure() -> list[Figure]:
    """In turns, with caches of their own that both have filled."""
    ours, plain = [], []
    with tempfile.TemporaryDirectory() as scratch:
        file = write_program(Path(scratch, "folder"), "train.py", PROGRAM)
        host = Host(sys.executable, {**os.environ, "COMPILE_LENS_CACHE_DIR": f"{scratch}/cache"})
        await host.start()
        for _ in range(REPEATS + 1):
            end = await host.run(Job(str(file), depth=Depth.INDUCTOR, timeout_s=600), lambda _: None)
            assert end.kind is EndKind.FINISHED, end
            ours.append(_told(end.output))
            plain.append(_told(_plain(file, scratch)))
        await host.close()
    (mine, mine_all), (theirs, theirs_all) = (
        (statistics.median(column) for column in zip(*told[1:], strict=True)) for told in (ours, plain)
    )
    return [
        Figure("compilations and 500 calls", mine_all, "s", theirs_all, "plain Python", 1.05),
        Figure("compilations alone", mine, "s", theirs, "plain Python"),
    ]


def _plain(file: Path, scratch: str) -> str:
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": f"{scratch}/inductor", "PYTHONPATH": python_path()}
    return subprocess.run(
        [sys.executable, str(file)], env=environment, capture_output=True, text=True, check=True
    ).stdout


def _told(output: str) -> tuple[float, float]:
    found = TOLD.search(output)
    assert found is not None, output
    return float(found[1]), float(found[2])
