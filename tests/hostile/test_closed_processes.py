"""Processes that do not let others of the same user look into them: what is not seen of them counts as the worst that it may be.

Only root may look: where the tests run as root, this is asked as an ordinary user.
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import mmap
import os
import shutil
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from ordinary_user import as_ordinary_user

from compile_lens.agent.runtime import budget as budget_of_a_tree
from compile_lens.agent.runtime.budget import TreeBudget
from compile_lens.agent.runtime.closed_processes import is_closed
from compile_lens.agent.runtime.disk_growth import DiskGrowth
from compile_lens.agent.runtime.machine_memory import MachineMemory
from compile_lens.agent.runtime.protocol import SandboxKind, SandboxSpec
from compile_lens.agent.runtime.socket_memory import FlyingSockets, _bytes_of_a_socket, descriptors, in_sockets

pytestmark = [pytest.mark.hostile, pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")]

PR_SET_DUMPABLE = 4


@contextlib.contextmanager
def process(closed: bool, fill: Callable[[], object] = lambda: None) -> Iterator[int]:
    """One that has called ``fill`` and waits."""
    filled, fills = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            kept = fill()  # noqa: F841 - until it is ended
            ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, int(not closed), 0, 0, 0)
            os.write(fills, b"x")
            signal.pause()
        finally:
            os._exit(1)
    os.close(fills)
    try:
        assert os.read(filled, 1) == b"x"
        yield child
    finally:
        os.close(filled)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def exceeded(
    kind: SandboxKind,
    child: int,
    growth: DiskGrowth,
    memory: int = 0,
    disk: int = 0,
    machine: MachineMemory | None = None,
) -> str:
    """By a run that is the process ``child`` alone, and began when ``machine`` was looked at."""
    spec = SandboxSpec(kind, "/none", (), (), False, False, 0, memory, disk, 0, 0)
    budget = TreeBudget(spec, kind.value, None, None, growth, machine=machine or MachineMemory())
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(budget_of_a_tree.processes, "tree_of_run", lambda: iter([child]))
        return budget.exceeded(child)


def test_a_program_that_may_be_run_and_not_read_is_closed(tmp_path: Path) -> None:
    sleeping = shutil.which("sleep")
    assert sleeping is not None
    for mode in (0o111, 0o555):
        shutil.copy(sleeping, tmp_path / f"{mode:o}")
        (tmp_path / f"{mode:o}").chmod(mode)

    def check() -> None:
        for name, closed in (("111", True), ("555", False)):
            goes_on, started = os.pipe2(os.O_CLOEXEC)
            child = os.fork()
            if child == 0:
                os.execv(name, ["sleep", "60"])
            os.close(started)
            assert os.read(goes_on, 1) == b""
            assert (is_closed(child), descriptors(child) > 0) == (closed, True)
            os.kill(child, signal.SIGKILL)
            os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
            # one that nobody has waited for
            assert (is_closed(child), descriptors(child)) == (False, 0)

    as_ordinary_user(check, tmp_path)


def test_descriptors_of_a_closed_process_count_as_sockets(tmp_path: Path) -> None:
    def check() -> None:
        each = _bytes_of_a_socket()
        flying = FlyingSockets()
        for closed in (True, False):
            with process(closed, lambda: [os.dup(0) for _ in range(20)]) as child:
                assert (in_sockets([child], 8 * each) >= 20 * each) is closed
        with socket.socket(), socket.socket(), process(True) as child:
            assert flying.bytes([child], child, 1) >= 2 * each
        with socket.socket(), socket.socket(), process(False) as child:
            assert flying.bytes([child], child, 1) == 0

    as_ordinary_user(check, tmp_path)


def shared_memory() -> mmap.mmap:
    """Which is in no table."""
    memory = mmap.mmap(-1, 200 << 20)
    for start in range(0, 200 << 20, 1 << 20):
        memory[start : start + (1 << 20)] = b"x" * (1 << 20)
    memory.madvise(mmap.MADV_DONTNEED)
    return memory


def test_shared_memory_of_a_closed_process_counts_that_is_in_no_table(tmp_path: Path) -> None:
    def check() -> None:
        machine = MachineMemory()
        with process(True, shared_memory) as child:
            found = exceeded(SandboxKind.LANDLOCK, child, DiskGrowth((), (), 0), memory=128 << 20, machine=machine)
            assert found == "memory"

    as_ordinary_user(check, tmp_path)


def deleted_file() -> int:
    descriptor = os.open("file", os.O_WRONLY | os.O_CREAT)
    os.write(descriptor, b"x" * (4 << 20))
    os.fsync(descriptor)
    Path("file").unlink()
    return descriptor


def any_look(look: Callable[[], bool]) -> bool:
    """Whether one of several looks at the whole disk shows it: what others delete in the meantime hides what was added."""
    return any(look() for _ in range(20))


def test_files_without_a_name_of_a_closed_process_count(tmp_path: Path) -> None:
    def look() -> bool:
        growth = DiskGrowth((".",), (), 1 << 20)
        with process(True, deleted_file) as child:
            return growth.bytes([child]) >= 4 << 20

    def check() -> None:
        assert any_look(look)

    as_ordinary_user(check, tmp_path)


def test_files_in_memory_count_as_full_where_no_process_shows_them(tmp_path: Path) -> None:
    numbers = itertools.count()

    def ended(closed: bool) -> str:
        growth = DiskGrowth((".",), (), 1 << 20)
        Path(f"more-{next(numbers)}").write_bytes(b"")
        with process(closed) as child:
            return exceeded(SandboxKind.OVERLAY, child, growth, disk=1 << 20)

    def check() -> None:
        assert any_look(lambda: ended(True) == "disk")
        assert ended(False) == ""

    as_ordinary_user(check, tmp_path)
