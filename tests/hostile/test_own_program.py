"""A run changes nothing of the interpreter that it runs in, though the kernel leads it there past all mounts of its own."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from compile_lens.agent.runtime.protocol import SandboxKind
from compile_lens.pipeline.analyze import analyze
from compile_lens.workers.access import SandboxOptions
from compile_lens.workers.host import Host
from compile_lens.workers.job import Job
from sandbox_kinds import skip_unless_offered

pytestmark = [pytest.mark.hostile, pytest.mark.skipif(sys.platform != "linux", reason="changes links of /proc")]

CHANGES = """\
import ctypes, os
libc = ctypes.CDLL(None)
link = b"/proc/self/exe"
readable = os.open(link, os.O_RDONLY)
done = [
    libc.chmod(link, 0o700), libc.fchmod(readable, 0o700), libc.chmod(b"/proc/thread-self/exe", 0o700),
    libc.futimens(readable, None), libc.setxattr(link, b"user.mine", b"1", 1, 0), libc.chown(link, -1, 0),
    libc.chmod(b"/proc/self/fd/%d" % os.open(link, os.O_PATH), 0o700),
]
print(*done)
"""
OF_ITS_OWN = "os.chmod(__file__, 0o751)\nprint(oct(os.stat(__file__).st_mode & 0o777))\n"
# a process that was not started by the standby: in the sandbox, it says what it was told, and whether that is so
NOT_ANEW = """\
import os, sys, tempfile
from compile_lens.agent.sandbox.enter import enter
from compile_lens.agent.sandbox.policy import Policy
place = sys.argv[1]
scratch = tempfile.mkdtemp()
if os.fork() == 0:
    enter(Policy("overlay", scratch, (), (), False, False, 0, 1 << 24, 0, 0), "overlay", [place], lambda *_: None)
    exec(sys.argv[2])
    sys.stdout.flush()
    os._exit(0)
os.wait()
os.rmdir(scratch)
"""


@pytest.fixture
def interpreter(tmp_path: Path) -> Path:
    """One whose file is the user's own."""
    environment = tmp_path / "environment"
    packages = environment / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    python = environment / "bin" / "python"
    python.parent.mkdir()
    shutil.copy(os.path.realpath(sys.executable), python)
    (environment / "pyvenv.cfg").write_text(f"home = {Path(os.path.realpath(sys.executable)).parent}\n")
    if subprocess.run([str(python), "-c", "import ctypes"], check=False).returncode:
        pytest.skip("a copy of this interpreter does not work")
    return python


def state(file: Path) -> tuple[object, ...]:
    status = file.stat()
    return status.st_mode, status.st_uid, status.st_gid, status.st_mtime_ns, status.st_ctime_ns, os.listxattr(file)


@pytest.mark.parametrize("kind", [SandboxKind.OVERLAY, SandboxKind.LANDLOCK])
async def test_a_run_changes_nothing_of_its_interpreter(kind: SandboxKind, interpreter: Path, tmp_path: Path) -> None:
    skip_unless_offered(kind.value)
    file = tmp_path / "changes.py"
    file.write_text(CHANGES + (OF_ITS_OWN if kind is SandboxKind.OVERLAY else ""))
    before = state(interpreter)
    host = Host(str(interpreter))
    try:
        outcome = await analyze(host, Job(str(file), timeout_s=60, sandbox=SandboxOptions(strongest=kind)))
    finally:
        await asyncio.shield(host.close())
    said = outcome.output.split()
    assert outcome.status.value == "ok", outcome.output
    assert state(interpreter) == before
    if kind is SandboxKind.OVERLAY:
        # refused there, and its own files have the modes that it gives them
        assert set(said[:7]) == {"-1"} and said[-1] == "0o751"


def test_changes_are_pretended_where_the_interpreter_could_be_changed(interpreter: Path, tmp_path: Path) -> None:
    skip_unless_offered("overlay")
    before = state(interpreter)
    server = str(Path(__file__).resolve().parents[2] / "server")
    environment = {**os.environ, "PYTHONPATH": server, "TMPDIR": str(tmp_path)}
    command = [str(interpreter), "-c", NOT_ANEW, str(tmp_path), CHANGES]
    ran = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    assert ran.stdout.split() == ["0"] * 7, ran.stderr
    assert state(interpreter) == before
