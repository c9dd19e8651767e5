"""What a run uses and no list of its files or processes shows, and what it could reach under a name that nobody told."""

from __future__ import annotations

import builtins
import contextlib
import ctypes
import fcntl
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, cast

import pytest

from compile_lens.agent.runtime import budget as budget_of_a_tree
from compile_lens.agent.runtime import disk_growth, socket_memory
from compile_lens.agent.runtime.budget import PLACE_BYTES, TreeBudget, held_by_kernel
from compile_lens.agent.runtime.disk_growth import DiskGrowth
from compile_lens.agent.runtime.memory_group import MemoryGroup
from compile_lens.agent.runtime.processor_time import ProcessorTime
from compile_lens.agent.runtime.protocol import SandboxKind, SandboxSpec
from compile_lens.agent.runtime.socket_memory import FlyingSockets, in_connections
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
    # to fork takes time, too, and counts in both
    assert seconds - used.ru_utime - used.ru_stime >= 0.15
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


def map_a_page(file: IO[bytes]) -> None:
    """Without a descriptor of its own, as Python's would be."""
    call = ctypes.CDLL(None).mmap
    call.restype = ctypes.c_void_p
    assert call(None, ctypes.c_size_t(4096), 1, 1, file.fileno(), ctypes.c_long(0)) not in (None, 2**64 - 1)


@pytest.mark.parametrize("may_be_asked", [True, False])
def test_files_of_which_a_page_is_mapped_count_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, may_be_asked: bool
) -> None:
    """Only root may ask the kernel for the file behind a mapping."""
    if not may_be_asked:
        monkeypatch.setattr(disk_growth, "_may_be_asked", lambda _: False)
    elif os.geteuid() != 0:
        pytest.skip("needs root")
    growth = DiskGrowth((str(tmp_path),), (), 1 << 20)
    path = tmp_path / "file"
    with path.open("w+b") as file:
        file.write(b"x" * (4 << 20))
        file.flush()
        os.fsync(file.fileno())
        map_a_page(file)
    path.unlink()
    assert growth.bytes([os.getpid()]) >= 4 << 20


def test_programs_that_run_count_whole(tmp_path: Path) -> None:
    growth = DiskGrowth((str(tmp_path),), (), 1 << 20)
    path, sleeping = tmp_path / "program", shutil.which("sleep")
    assert sleeping is not None
    path.write_bytes(Path(sleeping).read_bytes() + b"x" * (4 << 20))
    path.chmod(0o700)
    with path.open("rb") as file:
        os.fsync(file.fileno())
    child = subprocess.Popen([str(path), "60"])
    path.unlink()
    try:
        assert growth.bytes([child.pid]) >= 4 << 20
    finally:
        child.kill()
        child.wait()


def connect(name: str, kind: socket.SocketKind) -> None:
    with socket.socket(socket.AF_UNIX, kind) as client:
        client.setblocking(False)
        client.connect(name)
        client.send(b"x" * 1000)


@pytest.mark.parametrize("kind", [socket.SOCK_STREAM, socket.SOCK_SEQPACKET, socket.SOCK_DGRAM])
def test_sockets_count_whose_data_waits_behind_another_one(kind: socket.SocketKind) -> None:
    flying, each = FlyingSockets(), socket_memory._bytes_of_a_socket()
    with socket.socket(socket.AF_UNIX, kind) as own:
        own.bind("")
        if kind != socket.SOCK_DGRAM:
            own.listen(16)
        for _ in range(8):
            connect(own.getsockname(), kind)
        assert flying.bytes([os.getpid()], os.getpid(), 6 * each) >= 8 * each
        assert flying.bytes([os.getpid()], os.getpid(), 100 * each) == 0


def test_connections_that_others_accept_are_not_counted() -> None:
    flying, each = FlyingSockets(), socket_memory._bytes_of_a_socket()
    sleeping = subprocess.Popen(["sleep", "60"])
    with socket.socket(socket.AF_UNIX) as own:
        own.bind("")
        own.listen(16)
        for _ in range(8):
            connect(own.getsockname(), socket.SOCK_STREAM)
        try:
            assert flying.bytes([sleeping.pid], sleeping.pid, 6 * each) == 0
        finally:
            sleeping.kill()
            sleeping.wait()


SHARED = """
import mmap, sys, time
memory = mmap.mmap(-1, 256 << 20)
for start in range(0, int(sys.argv[1]) << 20, 1 << 20):
    memory[start : start + (1 << 20)] = b"x" * (1 << 20)
memory.madvise(mmap.MADV_DONTNEED)
print("filled", flush=True)
time.sleep(60)
"""


def exceeded_by(monkeypatch: pytest.MonkeyPatch, gpu: bool, program: str, *arguments: str) -> str:
    """What ``program`` exceeds of 128 MiB of memory, once it has said that it is "filled"."""
    spec = SandboxSpec(SandboxKind.LANDLOCK, "/none", (), (), False, gpu, 0, 128 << 20, 0, 0, 0)
    budget = TreeBudget(spec, "landlock", None, None, DiskGrowth((), (), 0))
    child = subprocess.Popen([sys.executable, "-c", program, *arguments], stdout=subprocess.PIPE, text=True)
    monkeypatch.setattr(budget_of_a_tree.processes, "tree_of_run", lambda: iter([child.pid]))
    try:
        assert child.stdout is not None and child.stdout.readline() == "filled\n"
        return budget.exceeded(child.pid)
    finally:
        child.kill()
        child.communicate()


@pytest.mark.parametrize(("filled", "exceeded"), [(200, "memory"), (1, "")])
def test_shared_memory_counts_that_is_in_no_table(filled: int, exceeded: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is mapped and never written is no memory."""
    assert exceeded_by(monkeypatch, False, SHARED, str(filled)) == exceeded


WITHOUT_ITS_FIRST_THREAD = """
import ctypes, os, platform, threading, time
def fill():
    time.sleep(0.2)
    kept = bytearray(200 << 20)
    kept[:: 4096] = b"x" * len(kept[:: 4096])
    print("filled", flush=True)
    time.sleep(60)
threading.Thread(target=fill).start()
ctypes.CDLL(None).syscall({"x86_64": 60, "aarch64": 93}[platform.machine()], 0)
"""


def test_a_process_counts_whose_first_thread_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = SandboxSpec(SandboxKind.LANDLOCK, "/none", (), (), False, False, 0, 128 << 20, 0, 0, 0)
    budget = TreeBudget(spec, "landlock", None, None, DiskGrowth((), (), 0))
    child = subprocess.Popen([sys.executable, "-c", WITHOUT_ITS_FIRST_THREAD], stdout=subprocess.PIPE, text=True)
    monkeypatch.setattr(budget_of_a_tree.processes, "tree_of_run", lambda: iter([child.pid]))
    try:
        assert child.stdout is not None and child.stdout.readline() == "filled\n"
        assert budget.exceeded(child.pid) == "memory"
    finally:
        child.kill()
        child.communicate()


@pytest.mark.parametrize(("files", "exceeded"), [(100_000, "memory"), (1000, "")])
def test_files_in_memory_count_beside_what_they_hold(
    files: int, exceeded: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their names, their owners and lists of access rights are memory, too."""
    spec = SandboxSpec(SandboxKind.OVERLAY, "/none", (), (), False, False, 0, 128 << 20, 0, 0, 0)
    budget = TreeBudget(spec, "overlay", None, None, DiskGrowth((), (), 0))
    child = subprocess.Popen(["sleep", "60"])
    monkeypatch.setattr(budget_of_a_tree.processes, "tree_of_run", lambda: iter([child.pid]))
    monkeypatch.setattr(
        budget_of_a_tree, "_used_below", lambda folder, _: (0, files if folder.endswith("/none") else 0)
    )
    try:
        assert budget.exceeded(child.pid) == exceeded
    finally:
        child.kill()
        child.wait()


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
