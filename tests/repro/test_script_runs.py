"""A script that is written from a run is run with the access of that run: what it calls and imports, a program has said."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio
from repros import job_for
from tests.sandbox_kinds import skip_unless_offered

from compile_lens.agent.runtime.protocol import SandboxKind
from compile_lens.repro.contract import BACKEND_VARIABLE, ExitCode
from compile_lens.repro.issue import collect_versions
from compile_lens.repro.script_runs import NOT_TO_THE_END, ScriptRuns
from compile_lens.repro.selection import Selection
from compile_lens.repro.write import Request, write_repro
from compile_lens.workers.access import Access, ResourceLimits, SandboxOptions
from compile_lens.workers.host import Host
from compile_lens.workers.script import Ended

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the kinds are those of Linux"),
    pytest.mark.xdist_group("sandbox"),
    pytest.mark.asyncio(loop_scope="module"),
]
CONFINED = [SandboxKind.OVERLAY, SandboxKind.LANDLOCK]
# in eager and compiled; a repro copies what the region calls
LEAVES_A_FILE = """
from pathlib import Path

import torch


@torch.compiler.disable
def note(x):
    Path("left.txt").write_text("done")
    return x


@torch.compile(backend="eager")
def region(x):
    return note(x + 1) * 2


region(torch.ones(3))
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def host() -> AsyncIterator[Host]:
    host = Host(sys.executable)
    yield host
    await host.close()


async def run(
    host: Host, folder: Path, text: str, kind: SandboxKind, seconds: float = 60.0, memory_gib: float = 0.0
) -> Ended:
    skip_unless_offered(kind.value)
    file = folder / "script.py"
    file.write_text(textwrap.dedent(text))
    job = replace(
        job_for(folder / "program.py"),
        sandbox=SandboxOptions(strongest=kind),
        budget=ResourceLimits(memory_gib=memory_gib),
    )
    return await ScriptRuns(host, job).run(file, seconds, {BACKEND_VARIABLE: "eager", "OF_THE_TEST": "1"})


@pytest.mark.parametrize("access", [Access.SANDBOXED, Access.FULL], ids=lambda access: access.value)
async def test_what_a_repro_does_is_confined_as_the_run_was(host: Host, tmp_path: Path, access: Access) -> None:
    program, out = tmp_path / "program.py", tmp_path / "of" / "repro.py"
    out.parent.mkdir()
    program.write_text(LEAVES_A_FILE)
    job = replace(job_for(program), access=access)
    written = await write_repro(host, Request(job, Selection(), out))
    assert written.reproduces, written.verification
    assert (out.parent / "left.txt").exists() is (access is Access.FULL)


@pytest.mark.parametrize("kind", [*CONFINED, SandboxKind.PYTHON], ids=lambda kind: kind.value)
async def test_a_script_ends_as_it_does_in_a_shell(host: Host, tmp_path: Path, kind: SandboxKind) -> None:
    text = """
        import os, sys
        print("said", __name__, os.path.basename(sys.argv[0]), os.environ["TORCH_COMPILE_BACKEND"])
        sys.exit(7)
    """
    ended = await run(host, tmp_path, text, kind)
    assert (ended.code, ended.last_line, ended.timed_out) == (7, "said __main__ script.py eager", False)


@pytest.mark.parametrize("kind", CONFINED, ids=lambda kind: kind.value)
async def test_its_interpreter_is_its_own(
    host: Host, tmp_path: Path, kind: SandboxKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = """
        import os, sys
        print("torch" in sys.modules, os.environ["OF_THE_TEST"], [name for name in os.environ if name.startswith("TORCH_TRACE")])
        print(sorted(os.listdir("/proc/self/fd")))
    """
    ended = await run(host, tmp_path, text, kind)
    first, descriptors = ended.output.splitlines()
    assert first == "False 1 []"
    assert descriptors == "['0', '1', '2', '3']"  # the last is of the list itself


@pytest.mark.parametrize("kind", CONFINED, ids=lambda kind: kind.value)
async def test_a_signal_a_limit_and_a_budget_are_told_apart(host: Host, tmp_path: Path, kind: SandboxKind) -> None:
    crashed = await run(host, tmp_path, "import os\nos.kill(os.getpid(), 11)\n", kind)
    assert (crashed.code, crashed.timed_out) == (-11, False)
    slow = await run(host, tmp_path, "import time\ntime.sleep(100)\n", kind, seconds=3.0)
    assert slow.timed_out and slow.code == 0
    large = "held = [bytearray(1 << 24) for _ in range(100)]\nimport time\ntime.sleep(100)\n"
    ended = await run(host, tmp_path, large, kind, memory_gib=0.4)
    assert (ended.code, ended.timed_out, ended.last_line) == (ExitCode.CANNOT_JUDGE, False, NOT_TO_THE_END) or (
        ended.code == 1 and "MemoryError" in ended.output
    )


async def test_the_versions_of_a_report_are_collected_as_the_run_was_confined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """torch starts programs by their names, which a workspace may have put into PATH."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("gcc", "lscpu", "cmake"):
        (programs / name).write_text(f"#!/bin/sh\necho x > {tmp_path}/started\necho {name} 1.2.3\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    host = Host(sys.executable)
    try:
        told = await collect_versions(ScriptRuns(host, job_for(tmp_path / "program.py")))
    finally:
        await host.close()
    assert "PyTorch version: 2." in told
    assert not (tmp_path / "started").exists()
