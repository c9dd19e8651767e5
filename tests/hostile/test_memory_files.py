"""Files in memory that no process has mapped count where no control group does: a run with GPUs may make them (`memfd_create`)."""

from __future__ import annotations

import subprocess
import sys

import pytest

from compile_lens.agent.runtime import budget as budget_of_a_tree
from compile_lens.agent.runtime.budget import TreeBudget
from compile_lens.agent.runtime.disk_growth import DiskGrowth
from compile_lens.agent.runtime.protocol import SandboxKind, SandboxSpec

pytestmark = [pytest.mark.hostile, pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")]

FILLED = """
import os, socket, sys, time
size, where = int(sys.argv[1]), sys.argv[2]
files = [os.memfd_create(f"{number}") for number in range(4)]
for file in files:
    for _ in range(size // 4):
        os.write(file, b"x" * (1 << 20))
here, there = socket.socketpair()
if where == "on their way":
    socket.send_fds(here, [b"x"], files)
    for file in files:
        os.close(file)
if where == "twice":
    copies = [os.dup(file) for file in files]
print("filled", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize(
    ("megabytes", "where", "exceeded"),
    [(200, "open", "memory"), (200, "on their way", "memory"), (60, "twice", ""), (4, "on their way", "")],
)
def test_files_count_that_are_mapped_nowhere(
    megabytes: int, where: str, exceeded: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = SandboxSpec(SandboxKind.LANDLOCK, "/none", (), (), False, True, 0, 128 << 20, 0, 0, 0)
    budget = TreeBudget(spec, "landlock", None, None, DiskGrowth((), (), 0))
    child = subprocess.Popen([sys.executable, "-c", FILLED, str(megabytes), where], stdout=subprocess.PIPE, text=True)
    monkeypatch.setattr(budget_of_a_tree.processes, "tree_of_run", lambda: iter([child.pid]))
    try:
        assert child.stdout is not None and child.stdout.readline() == "filled\n"
        assert budget.exceeded(child.pid) == exceeded
    finally:
        child.kill()
        child.communicate()
