"""An agent that cannot fork is the program, too: what it reports without end is counted, as that of a fork is."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from compile_lens.workers.access import Access
from compile_lens.workers.host import Host
from compile_lens.workers.job import EndKind, Job

SERVER = Path(__file__).resolve().parents[2] / "server"
# speaks as such an agent does, and needs no torch
AGENT = f"""\
#!{sys.executable}
import os, select, sys
sys.path.insert(0, {str(SERVER)!r})
from compile_lens.agent.runtime.protocol import PROTOCOL_VERSION, AbilityLost, Hello, RunStarted
from compile_lens.agent.runtime.wire import Wire

wire = Wire(1)
wire.tell(Hello(os.getpid(), "2.13.0", "3.11.0", False, 0.0, (), PROTOCOL_VERSION))
sys.stdin.readline()
wire.tell(RunStarted(os.getpid()))
while not select.select([0], [], [], 0)[0]:
    wire.tell(AbilityLost("x" * (1 << 20), ""))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="starts a script by its first line")
async def test_reports_without_end_are_counted(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text(AGENT)
    python.chmod(0o755)
    file = tmp_path / "program.py"
    file.touch()
    host = Host(str(python))
    try:
        end = await host.run(Job(str(file), timeout_s=60.0, access=Access.SANDBOXED), lambda _: None)
    finally:
        await host.close()
    assert (end.kind, end.reason) == (EndKind.BUDGET, "output")
