"""What copies files by calls that the sandbox refuses goes on with other ones: tried without torch, in a process of its own."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.sandbox_kinds import skip_unless_offered

pytestmark = [pytest.mark.hostile, pytest.mark.skipif(sys.platform != "linux", reason="the kinds are those of Linux")]
# the answers that pathlib takes for those of a system without the call (Lib/pathlib/_os.py of Python 3.14, copyfileobj), and copies
COPIES = """\
import fcntl, os, pathlib, shutil, sys, tempfile
from compile_lens.agent.sandbox.enter import enter
from compile_lens.agent.sandbox.policy import Policy

kind, scratch, place = sys.argv[1:]
tempfile.gettempdir()  # as the standby has asked
enter(Policy(kind, scratch, (), (), False, False, 0, 1 << 24, 0, 0), kind, [place], lambda *_: None)
FICLONE, answers = 0x40049409, []
with open(f"{scratch}/data", "wb") as file:
    file.write(b"x" * 70_000)
with open(f"{scratch}/data", "rb") as source, open(f"{scratch}/target", "wb") as target:
    for copy in (
        lambda: os.sendfile(target.fileno(), source.fileno(), 0, 70_000),
        lambda: fcntl.ioctl(target.fileno(), FICLONE, source.fileno()),
    ):
        try:
            answers.append(copy())
        except OSError as error:
            answers.append(error.errno)
copies = [shutil.copyfile(f"{scratch}/data", f"{scratch}/first")]
if hasattr(pathlib.Path, "copy"):
    copies.append(pathlib.Path(f"{scratch}/data").copy(f"{scratch}/second"))
    copies.append(pathlib.Path(f"{scratch}/data").copy("/dev/shm/compile-lens-copy"))
    os.unlink(copies[-1])
print(answers, {os.path.getsize(copy) for copy in copies[:2]})
"""


@pytest.mark.parametrize("kind", ["overlay", "landlock"])
def test_python_copies_files_without_the_calls_that_are_refused(kind: str, tmp_path: Path) -> None:
    skip_unless_offered(kind)
    (tmp_path / "scratch").mkdir()
    arguments = (kind, str(tmp_path / "scratch"), str(tmp_path))
    ran = subprocess.run([sys.executable, "-c", COPIES, *arguments], capture_output=True, text=True, env=os.environ)
    assert ran.stdout.strip() == f"{[errno.ENOTSOCK, errno.EOPNOTSUPP]} {{70000}}", ran.stderr
