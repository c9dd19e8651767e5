"""Processes of the user that wait at a word of shared memory are still there after a run that may read its file."""

from __future__ import annotations

import asyncio
import ctypes
import mmap
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from compile_lens.agent.runtime.protocol import SandboxKind
from compile_lens.pipeline.analyze import analyze
from compile_lens.workers.access import SandboxOptions
from compile_lens.workers.host import Host
from compile_lens.workers.job import Job
from sandbox_kinds import skip_unless_offered

FUTEX = {"x86_64": 202, "aarch64": 98}.get(os.uname().machine, 0) if sys.platform == "linux" else 0
pytestmark = [pytest.mark.hostile, pytest.mark.skipif(not FUTEX, reason="numbers of Linux's calls")]

WAKE, EVERYBODY = 1, 1 << 30
WAITS = f"""\
import ctypes, mmap, sys
file = open(sys.argv[1], "r+b")
memory = mmap.mmap(file.fileno(), 4096)
ctypes.CDLL(None).syscall({FUTEX}, ctypes.byref(ctypes.c_int.from_buffer(memory)), 0, 0, None, None, 0)
"""
# by each call that moves who waits, to a word of its own
MOVES = """\
import ctypes, struct, tempfile
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
own = tempfile.TemporaryFile()
own.truncate(4096)
file = open({path!r}, "rb")
there = ctypes.c_void_p(libc.mmap(None, ctypes.c_size_t(4096), 1, 1, file.fileno(), ctypes.c_long(0)))
here = ctypes.c_void_p(libc.mmap(None, ctypes.c_size_t(4096), 3, 1, own.fileno(), ctypes.c_long(0)))
both = b"".join(struct.pack("QQII", 0, word.value, 2, 0) for word in (there, here))
moved = [
    libc.syscall({futex}, there, 3, 0, ctypes.c_void_p(9), here, 0),
    libc.syscall({futex}, there, 4, 0, ctypes.c_void_p(9), here, 0),
    libc.syscall({futex}, there, 4 | 256, 0, ctypes.c_void_p(9), here, 0),
    libc.syscall({futex}, there, 12, 1, ctypes.c_void_p(9), here, 0),
    libc.syscall(456, both, 0, 0, 9),
]
of_threads = libc.syscall({futex}, here, 4 | 128, 0, ctypes.c_void_p(9), here, 0)
print(moved, of_threads)
"""


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    file = tmp_path / "lock.mdb"
    file.write_bytes(bytes(4096))
    return file


@pytest.fixture
def waiting(shared: Path) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([sys.executable, "-c", WAITS, str(shared)]) as process:
        until = time.monotonic() + 30
        while "futex" not in Path(f"/proc/{process.pid}/wchan").read_text():
            assert time.monotonic() < until and process.poll() is None
            time.sleep(0.01)
        yield process
        process.kill()


@pytest.mark.parametrize("kind", [SandboxKind.OVERLAY, SandboxKind.LANDLOCK])
def test_who_waits_is_not_moved(kind: SandboxKind, shared: Path, waiting: subprocess.Popen[bytes]) -> None:
    skip_unless_offered(kind.value)
    program = shared.with_name("program.py")
    program.write_text(MOVES.format(path=str(shared), futex=FUTEX))

    async def run() -> str:
        host = Host(sys.executable)
        try:
            outcome = await analyze(host, Job(str(program), timeout_s=60, sandbox=SandboxOptions(strongest=kind)))
        finally:
            await host.close()
        return outcome.output

    assert asyncio.run(run()) == "[-1, -1, -1, -1, -1] 0\n"
    with shared.open("r+b") as file, mmap.mmap(file.fileno(), 4096) as memory:
        word = ctypes.c_int.from_buffer(memory)
        woken = ctypes.CDLL(None).syscall(FUTEX, ctypes.byref(word), WAKE, EVERYBODY, None, None, 0)
        del word
    assert woken == 1
    assert waiting.wait(10) == 0
