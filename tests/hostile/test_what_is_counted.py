"""What a run uses and no list of its files or processes shows, and what it could reach under a name that nobody told."""

from __future__ import annotations

import builtins
import contextlib
import fcntl
import os
import resource
import signal
import socket
import sys
import time
from pathlib import Path
from typing import IO, cast

import pytest

from compile_lens.agent.runtime import socket_memory
from compile_lens.agent.runtime.budget import PLACE_BYTES, held_by_kernel
from compile_lens.agent.runtime.disk_growth import DiskGrowth
from compile_lens.agent.runtime.memory_group import MemoryGroup
from compile_lens.agent.runtime.processor_time import ProcessorTime
from compile_lens.agent.runtime.socket_memory import in_connections
from compile_lens.agent.runtime.task_clock import TaskClock
from compile_lens.agent.sandbox.open_sockets import open_sockets

pytestmark = [pytest.mark.hostile, pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")]


def test_the_time_of_processes_that_have_ended_stays() -> None:
    used = ProcessorTime()
    child = os.fork()
    if child == 0:
        while time.process_time() < 0.1:
            pass
        os.kill(os.getpid(), signal.SIGSTOP)
        os._exit(0)
    os.waitpid(child, os.WUNTRACED)
    seen, _ = used.look([child])
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert seen >= 0.08
    assert used.look([])[0] == seen


def test_the_shortest_lives_count_though_nobody_waits_for_them() -> None:
    goes, started = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(started)
        os.read(goes, 1)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        for _ in range(20):
            if os.fork() == 0:
                while time.process_time() < 0.01:
                    pass
                os._exit(0)
        with contextlib.suppress(ChildProcessError):
            os.wait()  # until all have ended
        os._exit(0)
    clock = TaskClock(child)
    os.close(started)
    os.close(goes)
    _, _, used = os.wait4(child, 0)
    if not clock.counts:
        pytest.skip("the kernel does not count here (kernel.perf_event_paranoid)")
    seconds = clock.seconds()
    clock.close()
    assert used.ru_utime + used.ru_stime < 0.2 <= seconds
    assert clock.seconds() == 0.0


def test_the_time_of_a_control_group_counts(tmp_path: Path) -> None:
    (tmp_path / "cpu.stat").write_text("usage_usec 1500000\nuser_usec 1\n")
    names = ("anon", "shmem")
    assert MemoryGroup(str(tmp_path), "memory.max", "memory.events", names).seconds() == 1.5
    assert MemoryGroup(str(tmp_path / "none"), "memory.max", "memory.events", names).seconds() == 0.0


def test_tables_of_descriptors_count() -> None:
    """A table is as large as the highest number that was ever open in it."""
    before = held_by_kernel(os.getpid())
    descriptor = fcntl.fcntl(0, fcntl.F_DUPFD, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 1)
    os.close(descriptor)
    assert held_by_kernel(os.getpid()) - before >= PLACE_BYTES * descriptor // 2 or before >= PLACE_BYTES * descriptor


def test_files_without_a_name_count(tmp_path: Path) -> None:
    growth = DiskGrowth((str(tmp_path),), (), 1 << 20)
    path = tmp_path / "file"
    with path.open("wb") as file:
        file.write(b"x" * (4 << 20))
        file.flush()
        path.unlink()
        os.fsync(file.fileno())
        assert growth.bytes([os.getpid()]) >= 4 << 20


def test_what_waits_in_connections_counts() -> None:
    """IPv6 has a table of its own."""
    for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        try:
            server = socket.create_server((host, 0), family=family)
        except OSError:
            continue  # this machine has no IPv6
        with server, socket.create_connection(server.getsockname()[:2]) as client:
            client.setblocking(False)
            sent = client.send(b"x" * (1 << 20))
            assert in_connections(os.getpid()) >= sent > 1 << 15


def test_no_table_is_read_where_there_is_no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    real_open = open

    def watching_open(path: str, mode: str) -> IO[bytes]:
        opened.append(path)
        return cast("IO[bytes]", real_open(path, mode))

    monkeypatch.setattr(builtins, "open", watching_open)
    # of the first kind nobody has any; the second is not counted by this kernel
    monkeypatch.setattr(
        socket_memory, "CONNECTIONS", {"tcp": ("sockstat", b"UDPLITE:"), "tcp6": ("sockstat", b"missing:")}
    )
    in_connections(os.getpid())
    assert [path.rpartition("/")[2] for path in opened] == ["sockstat", "sockstat", "tcp6"]


def test_sockets_are_found_whatever_they_were_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as relative, socket.socket(socket.AF_UNIX) as renamed:
        relative.bind("relative")
        renamed.bind("new")
        Path("new").rename("renamed")
        assert {str(tmp_path / name) for name in ("relative", "renamed")} <= set(open_sockets())
