"""A run ends before memory runs out for all programs, if that is by what no count of the run shows."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.sandbox_kinds import skip_unless_offered

from compile_lens.agent.runtime import machine_memory
from compile_lens.agent.runtime.machine_memory import MachineMemory, runs_low
from compile_lens.agent.runtime.protocol import SandboxKind
from compile_lens.analysis.outcome import Outcome
from compile_lens.pipeline.analyze import analyze
from compile_lens.workers.access import SandboxOptions
from compile_lens.workers.host import Host
from compile_lens.workers.job import Job

pytestmark = [pytest.mark.hostile, pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")]

GIB = 1 << 30
# an interpreter for which the kernel tells of another machine
ELSEWHERE = """\
#!{python}
import os, sys
from compile_lens.agent.sandbox import kernel
kernel.unshare(0x20000)
kernel.mount(None, "/", None, 0x4000 | 0x40000)
kernel.mount({meminfo!r}, "/proc/meminfo", None, 0x1000)
os.execv({python!r}, [{python!r}, *sys.argv[1:]])
"""
PROGRAM = """\
import time
with open({meminfo!r}, "r+") as file:
    file.write({later!r})
time.sleep(3)
print("went on")
"""


@pytest.mark.parametrize(
    ("total", "before", "now", "counted", "is_low"),
    [
        # what no count shows has taken nearly all
        (16, 12, 0.5, 1, True),
        # a large model on a machine with other work: all that is gone, it is counted for
        (16, 9, 0.5, 8, False),
        # other programs have taken a little beside it
        (16, 9, 0.5, 7.8, False),
        # much is left
        (16, 12, 1, 1, False),
        # little was there from the beginning: as much as is usual comes and goes
        (16, 0.7, 0.6, 0.2, False),
        # and the run takes most of what there was
        (16, 0.7, 0.2, 0.1, True),
        # of a large machine, four are enough
        (1024, 600, 5, 100, False),
        (1024, 600, 3, 100, True),
    ],
)
def test_when_memory_runs_low(total: float, before: float, now: float, counted: float, is_low: bool) -> None:
    assert runs_low(*(int(number * GIB) for number in (total, before, now, counted))) is is_low


def said_of(total: int, available: int) -> str:
    """As the kernel writes it, in as many letters whatever the numbers are."""
    return (
        f"MemTotal: {total >> 10:20} kB\nMemFree: {0:20} kB\nMemAvailable: {available >> 10:20} kB\nShmem: {0:20} kB\n"
    )


def test_the_machine_is_asked_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    meminfo = tmp_path / "meminfo"
    monkeypatch.setattr(machine_memory, "MEMINFO", str(meminfo))
    meminfo.write_text(said_of(16 * GIB, 12 * GIB))
    machine = MachineMemory()
    assert not machine.runs_low(lambda: 0)
    meminfo.write_text(said_of(16 * GIB, GIB // 2))
    assert machine.runs_low(lambda: GIB)
    assert not machine.runs_low(lambda: 11 * GIB)
    # where the kernel says nothing, nothing is ended
    meminfo.write_text("")
    assert not machine.runs_low(lambda: 0)
    assert not MachineMemory().runs_low(lambda: 0)


@pytest.mark.parametrize("is_new", [True, False])
def test_a_container_has_less_than_its_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_new: bool) -> None:
    limit, used, _, returned = machine_memory.NEW if is_new else machine_memory.OLD
    (tmp_path / limit).write_text(f"{2 * GIB}\n")
    (tmp_path / used).write_text(f"{GIB}\n")
    (tmp_path / "memory.stat").write_text(f"{returned[0]} 0\n")
    monkeypatch.setattr(machine_memory, "groups_around", lambda _: iter([(str(tmp_path), is_new)]))
    machine = MachineMemory()
    (tmp_path / used).write_text(f"{2 * GIB - 1}\n")
    assert machine.runs_low(lambda: GIB // 2)
    assert not machine.runs_low(lambda: GIB)
    # the kernel takes back what it has read of files
    (tmp_path / "memory.stat").write_text(f"{returned[0]} {GIB}\n")
    assert not machine.runs_low(lambda: 0)


def run(program: Path, interpreter: str, options: SandboxOptions) -> Outcome:
    async def run_once() -> Outcome:
        host = Host(interpreter)
        try:
            return await analyze(host, Job(str(program), timeout_s=120.0, sandbox=options))
        finally:
            await host.close()

    return asyncio.run(run_once())


def run_elsewhere(folder: Path, before: int, later: int) -> Outcome:
    folder.joinpath("kept").mkdir()
    meminfo = folder / "kept" / "meminfo"
    meminfo.write_text(said_of(16 * GIB, before))
    interpreter, program = folder / "python", folder / "program.py"
    interpreter.write_text(ELSEWHERE.format(python=sys.executable, meminfo=str(meminfo)))
    interpreter.chmod(0o755)
    program.write_text(PROGRAM.format(meminfo=str(meminfo), later=said_of(16 * GIB, later)))
    options = SandboxOptions(allow_write=(str(meminfo.parent),), strongest=SandboxKind.LANDLOCK)
    return run(program, str(interpreter), options)


@pytest.mark.parametrize(("later", "came_to"), [(GIB // 2, ("killed", ["budget"])), (2 * GIB, ("ok", []))])
def test_a_run_ends_when_memory_runs_low(tmp_path: Path, later: int, came_to: tuple[str, list[str]]) -> None:
    skip_unless_offered("landlock")
    script = tmp_path / "tried"
    script.write_text(ELSEWHERE.format(python=sys.executable, meminfo=os.devnull))
    if subprocess.run([sys.executable, str(script), "-c", ""], capture_output=True).returncode:
        pytest.skip("nothing can be mounted here")
    outcome = run_elsewhere(tmp_path, 12 * GIB, later)
    assert (outcome.status.value, [finding.code for finding in outcome.findings]) == came_to, outcome
    assert all("the memory of this machine ran low" in finding.message for finding in outcome.findings)


@pytest.mark.parametrize("kind", [SandboxKind.OVERLAY, SandboxKind.LANDLOCK])
def test_the_kernel_ends_a_run_first(tmp_path: Path, kind: SandboxKind) -> None:
    """Where memory is filled faster than anybody looks; a run cannot take that back."""
    skip_unless_offered(kind.value)
    program = tmp_path / "program.py"
    program.write_text("""\
import subprocess
for number in ("0", "-1000", "500"):
    try:
        open("/proc/self/oom_score_adj", "w").write(number)
    except OSError:
        pass
print(subprocess.run(["cat", "/proc/self/oom_score_adj"], capture_output=True, text=True).stdout)
""")
    outcome = run(program, sys.executable, SandboxOptions(strongest=kind))
    assert (outcome.status.value, outcome.output.split()) == ("ok", ["1000"]), outcome
