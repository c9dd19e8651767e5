"""Files in memory that no process has mapped count where no control group does: a run with GPUs may make them (`memfd_create`)."""

from __future__ import annotations

import sys

import pytest
from tests.hostile.test_what_is_counted import exceeded_by

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
    assert exceeded_by(monkeypatch, True, FILLED, str(megabytes), where) == exceeded
