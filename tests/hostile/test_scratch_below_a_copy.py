"""The scratch folder lies in a folder that the run has a copy of: what it writes has one limit, and is seen from outside."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.hostile,
    # its observers look at what all processes of the machine share
    pytest.mark.xdist_group("hostile"),
    pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="mounts file systems"),
]
HELPER = Path(__file__).parent / "ordinary_user.py"
LIMIT = 16 << 20
# file systems are mounted inside the temporary folder: it is built anew in the file system that the scratch folder has, too
PROGRAM = """\
import json, os, sys, tempfile
sys.path.insert(0, "server")
from compile_lens.agent.runtime.budget import _used_below
from compile_lens.agent.sandbox.choice import choose
from compile_lens.agent.sandbox.enter import enter
from compile_lens.agent.sandbox.policy import Policy

place, limit = os.path.expanduser("~/folder"), int(sys.argv[1])
chosen = choose("overlay", [place])
scratch = tempfile.mkdtemp()
reading, writing = os.pipe()
goes, waits = os.pipe()
child = os.fork()
if child == 0:
    os.close(waits)
    entered = enter(Policy("overlay", scratch, (), (), False, False, 0, limit, 0, 0), chosen.kind, [place], lambda *_: None)
    written = 0
    for folder in (scratch, "/dev/shm"):
        try:
            with open(os.path.join(folder, "file"), "wb", buffering=0) as file:
                for _ in range(2 * limit >> 20):
                    written += file.write(bytes(1 << 20))
        except OSError:
            pass
    os.write(writing, json.dumps({"kind": entered.kind, "reason": chosen.reason, "written": written}).encode())
    os.read(goes, 1)
    os._exit(0)
os.close(writing)
found = json.loads(os.read(reading, 10000))
inside = f"/proc/{child}/root{scratch}"
found["seen"] = sum(_used_below(*two)[0] for two in ((inside, scratch), (f"{inside}/shared-memory", inside)))
os.close(waits)
os.wait()
print(json.dumps(found))
"""


def test_its_files_count_once_and_have_one_limit() -> None:
    ran = subprocess.run(
        [sys.executable, str(HELPER), "--mounts", sys.executable, "-c", PROGRAM, str(LIMIT)],
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    if found["kind"] != "overlay":
        pytest.skip(f"no overlay here: {found['reason']}")
    assert LIMIT // 2 < found["written"] < LIMIT
    assert found["written"] <= found["seen"] < LIMIT
