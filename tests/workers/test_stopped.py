"""Agents and runs that somebody has stopped: they end in the time promised, and caches that cannot be written do not end a run."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest

from compile_lens.analysis.outcome import Outcome
from compile_lens.pipeline.analyze import analyze
from compile_lens.workers import host as host_module
from compile_lens.workers.access import Access
from compile_lens.workers.cache_leases import FOLDER as LEASES
from compile_lens.workers.cache_leases import gate
from compile_lens.workers.caches import LAYOUT, VARIABLE, cache_root
from compile_lens.workers.host import Host, HostError
from compile_lens.workers.job import End, EndKind, Job
from processes import Mark

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")
LIMIT_S = 6.0
# of a machine that runs other tests, too
PATIENCE_S = 10.0
SLEEPS = "import sys, time\nprint(sys.argv[1], flush=True)\ntime.sleep(1000)\n"


async def begun(host: Host, run: asyncio.Task[End], word: str) -> None:
    while word not in host.output_so_far():
        assert not run.done(), run.result()
        await asyncio.sleep(0.02)


def stop(host: Host, what: str) -> None:
    """Stop the standby, or what it has forked."""
    assert host._process is not None
    standby = psutil.Process(host._process.pid)
    for process in [standby] if what == "standby" else standby.children(recursive=True):
        process.send_signal(signal.SIGSTOP)


@pytest.mark.parametrize("what", [pytest.param("standby", marks=pytest.mark.nightly), "run"])
async def test_a_stopped_process_is_killed_in_time(tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A standby that has nothing to do runs on, though."""
    monkeypatch.setattr(host_module, "GRACE_S", 1.0)
    file = tmp_path / "train.py"
    mark = Mark()
    host = Host(sys.executable, mark.environment)
    await host.start()
    # before it has something to do
    file.write_text("print('begun')\n")
    stop(host, what)
    end = await asyncio.wait_for(host.run(Job(str(file), timeout_s=30.0), lambda _: None), 60)
    assert end.kind is EndKind.FINISHED
    file.write_text(SLEEPS)
    # at its time limit
    run = asyncio.create_task(host.run(Job(str(file), argv=("one",), timeout_s=LIMIT_S), lambda _: None))
    await begun(host, run, "one")
    since = time.monotonic()
    stop(host, what)
    assert (await run).kind is EndKind.TIMEOUT
    assert time.monotonic() - since < LIMIT_S + 1.0 + PATIENCE_S
    # when it is canceled
    run = asyncio.create_task(host.run(Job(str(file), argv=("two",), timeout_s=100.0), lambda _: None))
    await begun(host, run, "two")
    since = time.monotonic()
    stop(host, what)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert time.monotonic() - since < host_module.CANCEL_S + PATIENCE_S
    # when everything ends
    run = asyncio.create_task(host.run(Job(str(file), argv=("three",), timeout_s=100.0), lambda _: None))
    await begun(host, run, "three")
    stop(host, what)
    await host.close()
    assert (await run).kind in (EndKind.LOST, EndKind.CANCELLED)
    assert mark.none_left()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="mounts a read-only file system")
def test_caches_that_cannot_be_written_are_elsewhere(tmp_path: Path) -> None:
    caches = tmp_path / "caches"
    caches.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "ro,size=1m", "none", str(caches)], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("cannot mount here")
    try:
        file = tmp_path / "train.py"
        file.write_text("import torch\nf = torch.compile(lambda x: x + 1, backend='eager')\nf(torch.ones(3))\n")
        host = Host(sys.executable, {**os.environ, "COMPILE_LENS_CACHE_DIR": str(caches)})

        async def run() -> tuple[Outcome, Path]:
            outcome = await analyze(host, Job(str(file), timeout_s=60))
            temporary = host._environment._temporary_caches
            assert temporary is not None and temporary.is_dir()
            await host.close()
            return outcome, temporary

        outcome, temporary = asyncio.run(run())
    finally:
        subprocess.run(["umount", str(caches)], check=True)
    assert (outcome.status.value, outcome.graphs) == ("ok", 1), outcome
    assert (
        f"Unavailable: caches of earlier runs (the cache folder {caches}/v1 cannot be written: Read-only file system). "
        "This run used a temporary folder." in outcome.notes
    )
    assert not temporary.exists()


@pytest.mark.parametrize("steps", [1, 2, 3, 5, 8])
async def test_a_host_that_is_closed_while_it_starts_leaves_nothing(steps: int) -> None:
    mark = Mark()
    host = Host(sys.executable, mark.environment)
    starts = asyncio.create_task(host.start())
    for _ in range(steps):
        await asyncio.sleep(0)
    await host.close()
    with pytest.raises(HostError):
        await starts
    assert mark.none_left()


async def test_a_run_that_waits_for_the_caches_does_not_begin_once_its_host_is_closed(tmp_path: Path) -> None:
    mark, caches, file = Mark(), tmp_path / "caches", tmp_path / "runs.py"
    file.write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n")
    environment = {**mark.environment, VARIABLE: str(caches)}
    host = Host(sys.executable, environment)
    # no run takes a lease meanwhile, as while caches are cleaned up
    with gate(cache_root(environment)):
        runs = asyncio.create_task(host.run(Job(str(file), access=Access.FULL), lambda _: None))
        while not (caches / LAYOUT / LEASES).is_dir():
            await asyncio.sleep(0)
        await host.close()
    with pytest.raises(HostError):
        await runs
    assert mark.none_left()
    assert not (tmp_path / "ran").exists()
