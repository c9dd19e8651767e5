"""What an older kernel does not restrict, and a file system that is mounted twice: tried without torch, in processes of their own."""

from __future__ import annotations

import inspect
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from compile_lens.agent.runtime.processes import descendants
from compile_lens.agent.runtime.shared_files import SharedFiles

pytestmark = [pytest.mark.hostile, pytest.mark.skipif(sys.platform != "linux", reason="the kinds are those of Linux")]
# Landlock as Linux 5.13 has it: the filter makes up for what it lacks
OLD = """\
import os, signal, sys
from compile_lens.agent.sandbox import landlock
offered = landlock.abi()
landlock.abi = lambda: 1
from compile_lens.agent.sandbox.enter import enter
from compile_lens.agent.sandbox.policy import Policy

scratch, file = sys.argv[1:]
if not offered:
    raise SystemExit("no Landlock")
enter(Policy("landlock", scratch, (), (), False, False, 0, 1 << 24, 0, 0), "landlock", [os.path.dirname(file)], lambda *_: None)
import ctypes
libc = ctypes.CDLL(None)
libc.truncate(file.encode(), 0)
for flags in (os.O_RDONLY | os.O_TRUNC, 3 | os.O_TRUNC, os.O_WRONLY | os.O_TRUNC, os.O_RDWR):
    assert libc.open(file.encode(), flags) < 0, flags
descriptor = libc.syscall(434, os.getppid(), 0)
assert libc.syscall(424, descriptor, signal.SIGTERM, None, 0) < 0
with open(os.path.join(scratch, "own"), "w") as own:
    own.write("text")
open(os.path.join(scratch, "own"), "w").close()
print("done")
"""
TWICE = """\
import os, sys, tempfile
from compile_lens.agent.sandbox import kernel
from compile_lens.agent.sandbox.enter import enter
from compile_lens.agent.sandbox.policy import Policy, secrets

kind, home, second, scratch = sys.argv[1:]
tempfile.gettempdir()  # as the standby has asked
kernel.unshare(0x20000)
kernel.mount(None, "/", None, 0x44000)
kernel.mount(home, second, None, 0x1000)
policy = Policy(kind, scratch, (), (), False, False, 0, 1 << 24, 0, 0, False, (), tuple(secrets()))
enter(policy, kind, [home], lambda *_: None)
import ctypes
libc, readable = ctypes.CDLL(None), []
for folder in (home, second):
    for name in (".ssh/id", ".netrc", "thesis"):
        data = ctypes.create_string_buffer(16)
        descriptor = libc.open(os.path.join(folder, name).encode(), os.O_RDONLY)
        if descriptor >= 0 and libc.read(descriptor, data, 7) > 0:
            readable.append(name)
print(readable)
"""
# a service and a secret outside of all covered folders, which somebody makes anew while the run goes on
ANEW = """\
import os, socket, sys, tempfile
from compile_lens.agent.sandbox import kernel
from compile_lens.agent.sandbox.enter import enter
from compile_lens.agent.sandbox.policy import Policy, secrets

home, scratch, outside = sys.argv[1:]
tempfile.gettempdir()  # as the standby has asked
kernel.unshare(0x20000)
kernel.mount(None, "/", None, 0x44000)
kernel.mount("tmpfs", outside, "tmpfs", 0)
os.chdir(outside)
services = []

def make_anew():
    with open("new", "w") as file:
        file.write("planted")
    os.replace("new", "credentials")
    for name in ("service", "second"):
        if os.path.exists(name):
            os.unlink(name)
        services.append(socket.socket(socket.AF_UNIX))
        services[-1].bind(name)
        services[-1].listen()

make_anew()
os.unlink("second")
asks, answers = socket.socketpair()
if os.fork() == 0:
    asks.close()
    answers.recv(1)
    make_anew()
    answers.send(b"x")
    answers.recv(1)  # until the other has ended
    os._exit(0)
answers.close()
policy = Policy("overlay", scratch, (), (), False, False, 0, 1 << 24, 0, 0, False, (), tuple(secrets()))
enter(policy, "overlay", [home], lambda *_: None)
asks.send(b"x")
asks.recv(1)
import ctypes
libc = ctypes.CDLL(None)
data = ctypes.create_string_buffer(16)
read = libc.read(libc.open(f"{outside}/credentials".encode(), os.O_RDONLY), data, 7)
reached = []
for name in ("service", "second"):
    address = (1).to_bytes(2, "little") + f"{outside}/{name}".encode() + b"\\0"
    reached.append(libc.connect(libc.socket(1, 1, 0), address, len(address)))
print(read, data.value, reached, os.path.exists(f"{outside}/second"))
"""


CHAIN = """\
import os, signal, sys
for _ in range(int(sys.argv[1])):
    if os.fork():
        signal.pause()
os.write(1, b"deep")
signal.pause()
"""


def run(program: str, *arguments: str, **variables: str) -> str:
    ran = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, env={**os.environ, **variables}
    )
    if "no Landlock" in ran.stderr:
        pytest.skip("no Landlock here")
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


def test_an_older_landlock_lets_nothing_be_truncated_or_signaled(tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    file = tmp_path / "thesis"
    file.write_text("Chapter 1")
    assert run(OLD, str(tmp_path / "scratch"), str(file)) == "done"
    assert file.read_text() == "Chapter 1"


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="mounts a folder")
@pytest.mark.parametrize("kind", ["overlay", "landlock"])
def test_a_secret_is_hidden_at_every_place_where_it_is_mounted(kind: str, tmp_path: Path) -> None:
    home, second, scratch = tmp_path / "home", tmp_path / "second place", tmp_path / "scratch"
    for folder in (home / ".ssh", second, scratch):
        folder.mkdir(parents=True)
    for name in (".ssh/id", ".netrc", "thesis"):
        (home / name).write_text("planted")
    assert run(TWICE, kind, str(home), str(second), str(scratch), HOME=str(home)) == "['thesis', 'thesis']"


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="mounts a folder")
def test_what_is_made_anew_while_a_run_goes_on_is_out_of_reach(tmp_path: Path) -> None:
    home, scratch = tmp_path / "home", tmp_path / "scratch"
    for folder in (home, scratch):
        folder.mkdir()
    table = Path("/proc/self/mountinfo").read_text()
    outside = next(place for place in ("/srv", "/opt", "/media", "/mnt") if Path(place).is_dir() and place not in table)
    variables = {"HOME": str(home), "GOOGLE_APPLICATION_CREDENTIALS": f"{outside}/credentials"}
    assert run(ANEW, str(home), str(scratch), outside, **variables) == "0 b'' [-1, -1] True"


def test_processes_that_are_children_of_one_another_are_all_found() -> None:
    depth, limit = 120, sys.getrecursionlimit()
    first = subprocess.Popen([sys.executable, "-S", "-c", CHAIN, str(depth)], stdout=subprocess.PIPE)
    assert first.stdout is not None
    found: list[int] = []
    try:
        assert first.stdout.read(4) == b"deep"
        # as deep for this limit as thousands are for the usual one
        sys.setrecursionlimit(len(inspect.stack(0)) + 100)
        found = list(descendants(first.pid))
    finally:
        sys.setrecursionlimit(limit)
        for pid in [*reversed(found), first.pid]:
            os.kill(pid, signal.SIGKILL)
        first.communicate()
    assert len(found) == depth


def test_what_the_user_puts_into_shared_memory_meanwhile_stays() -> None:
    shared, file = SharedFiles(), Path(f"/dev/shm/compile-lens-test-{os.getpid()}")
    of_library = Path(f"/dev/shm/torch_{os.getpid()}_compile_lens_test_0")
    try:
        for path in (file, of_library):
            path.write_text("data")
        shared.look(set())
        shared.remove_left()
        assert file.read_text() == "data"
        assert not of_library.exists()
    finally:
        for path in (file, of_library):
            path.unlink(missing_ok=True)
