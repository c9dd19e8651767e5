"""Sessions that a run begins have its priority, also where an ordinary user watches it."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.hostile.ordinary_user import as_ordinary_user

from compile_lens.agent.runtime.memory_group import MemoryGroup
from compile_lens.agent.runtime.session_niceness import lower_new_sessions

pytestmark = pytest.mark.skipif(not Path("/proc/self/autogroup").exists(), reason="this kernel groups no sessions")
# an ordinary user may start it
WAITS = ["cat"]
# the kernel lets an ordinary user set one every tenth of a second, whoever else does meanwhile
TRIES = 100


def niceness_of(pid: int) -> int | None:
    """None for a session that is not in a group of its own, as the first one of the machine."""
    words = Path(f"/proc/{pid}/autogroup").read_text().split()
    return int(words[-1]) if words else None


@pytest.fixture(params=[True, False], ids=["a session of its own", "the session of the watcher"])
def process(request: pytest.FixtureRequest) -> Iterator[tuple[int, bool]]:
    with subprocess.Popen(WAITS, stdin=subprocess.PIPE, start_new_session=request.param) as waits:
        yield waits.pid, request.param
        waits.communicate()


def test_a_new_session_gets_the_priority_of_the_run(process: tuple[int, bool]) -> None:
    pid, is_own = process
    before = niceness_of(pid)
    for niceness, after in ((0, before), (7, 7), (5, 7), (11, 11)):
        for _ in range(TRIES):
            lower_new_sessions([pid, os.getpid(), 2**22 + 1], niceness)
            if niceness_of(pid) == after or not is_own:
                break
            time.sleep(0.1)
        assert niceness_of(pid) == (after if is_own else before)


def test_an_ordinary_user_lowers_them_too(tmp_path: Path) -> None:
    def check() -> None:
        with subprocess.Popen(WAITS, stdin=subprocess.PIPE, start_new_session=True) as waits:
            try:
                for _ in range(TRIES):
                    lower_new_sessions([waits.pid], 9)
                    if niceness_of(waits.pid) == 9:
                        break
                    time.sleep(0.1)
                assert niceness_of(waits.pid) == 9
            finally:
                waits.communicate()

    as_ordinary_user(check, tmp_path)


def test_a_control_group_has_the_priority_of_the_run(tmp_path: Path) -> None:
    weight = tmp_path / "cpu.weight.nice"
    group = MemoryGroup(str(tmp_path), "memory.max", "memory.events", ("anon", "shmem"))
    group.lower(10)
    assert not weight.exists()
    weight.write_text("0\n")
    group.lower(10)
    assert weight.read_text() == "10"
