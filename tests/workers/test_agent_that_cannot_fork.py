"""An agent that cannot fork is the program, too: what it reports without end is counted, as that of a fork is."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from compile_lens.temporary_folders import PREFIX
from compile_lens.workers.access import Access
from compile_lens.workers.host import Host
from compile_lens.workers.job import EndKind, Job
from compile_lens.workers.scratch import scratch_folder, sweep

SERVER = Path(__file__).resolve().parents[2] / "server"
# speaks as such an agent does, and needs no torch
AGENT = f"""\
#!{sys.executable}
import os, re, select, sys, time
sys.path.insert(0, {str(SERVER)!r})
from compile_lens.agent.runtime.protocol import PROTOCOL_VERSION, AbilityLost, Hello, RunEnded, RunStarted
from compile_lens.agent.runtime.wire import Wire

wire = Wire(1)
wire.tell(Hello(os.getpid(), "2.13.0", "3.11.0", False, 0.0, (), PROTOCOL_VERSION))
scratch = re.search('"([^"]*compile-lens-run-[^"]*)"', sys.stdin.readline())[1]
wire.tell(RunStarted(os.getpid()))
"""
REPORTS = """\
while not select.select([0], [], [], 0)[0]:
    wire.tell(AbilityLost("x" * (1 << 20), ""))
"""
# as a thread of a program does while its process ends
WRITES = """\
os.mkdir(scratch)
wire.tell(RunEnded("finished", 0, ""))
for number in range(100):
    os.makedirs(scratch, exist_ok=True)
    open(f"{scratch}/{number}", "w").close()
    time.sleep(0.005)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="starts a script by its first line")
async def test_reports_without_end_are_counted(tmp_path: Path) -> None:
    async with agent(tmp_path, REPORTS) as (host, job):
        end = await host.run(job, lambda _: None)
    assert (end.kind, end.reason) == (EndKind.BUDGET, "output")


@pytest.mark.skipif(sys.platform == "win32", reason="starts a script by its first line")
async def test_no_scratch_folder_is_left_by_a_program_that_writes_while_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    async with agent(tmp_path, WRITES) as (host, job):
        await host.run(job, lambda _: None)
        assert not list(tmp_path.glob(f"{PREFIX}*"))


def test_a_scratch_folder_that_is_made_after_its_run_goes_with_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with scratch_folder() as first:
        pass
    Path(first).mkdir()
    with scratch_folder():
        assert not Path(first).exists()
    Path(first).mkdir()
    sweep()
    assert not Path(first).exists()


@contextlib.asynccontextmanager
async def agent(folder: Path, then: str) -> AsyncIterator[tuple[Host, Job]]:
    """A host of an interpreter that speaks so, and does ``then`` when it has a run; and the run."""
    python, file = folder / "python", folder / "program.py"
    python.write_text(AGENT + then)
    python.chmod(0o755)
    file.touch()
    host = Host(str(python))
    try:
        yield host, Job(str(file), timeout_s=60.0, access=Access.SANDBOXED)
    finally:
        await host.close()
