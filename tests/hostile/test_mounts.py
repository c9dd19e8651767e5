"""File systems that are mounted inside a folder which a sandbox covers: their sockets lead nowhere, and what is written is discarded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from ordinary_user import HOME, MOUNTS, SOCKETS

pytestmark = [
    pytest.mark.hostile,
    # its observers look at what all processes of the machine share
    pytest.mark.xdist_group("hostile"),
    pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="mounts file systems"),
]
HELPER = Path(__file__).parent / "ordinary_user.py"
PROGRAM = """\
import json, os, socket, sys, tempfile
sys.path.insert(0, "server")
from compile_lens.agent.sandbox.choice import choose
from compile_lens.agent.sandbox.enter import enter
from compile_lens.agent.sandbox.policy import Policy

home, mounts, sockets = json.loads(sys.argv[1])
place = os.path.join(home, "folder")
chosen = choose("overlay", [place])
scratch = tempfile.mkdtemp()
reading, writing = os.pipe()
if os.fork() == 0:
    policy = Policy("overlay", scratch, (), (), False, False, 0, 1 << 24, 0, 0, chosen.alone)
    entered = enter(policy, chosen.kind, [place], lambda *_: None)
    found = {"kind": entered.kind, "reason": chosen.reason, "connected": [], "written": [], "read": []}
    for path in sockets:
        with socket.socket(socket.AF_UNIX) as client:
            if client.connect_ex(path) == 0:
                found["connected"].append(path)
    for path in [*mounts, home, place, "/tmp"]:
        try:
            open(os.path.join(path, "new"), "w").write("x")
            found["written"].append(path)
        except OSError:
            pass
    for path in mounts[:2]:
        found["read"].append(open(os.path.join(path, "data")).read())
    open(os.path.join(home, ".bashrc"), "a").write("gone")
    os.write(writing, json.dumps(found).encode())
    os._exit(0)
os.close(writing)
os.wait()
found = json.loads(os.fdopen(reading).read())
left = [path for path in [*mounts, home, place, "/tmp"] if os.path.exists(os.path.join(path, "new"))]
print(json.dumps({**found, "left": left, "bashrc": open(os.path.join(home, ".bashrc")).read()}))
"""


def test_mounts_inside_covered_folders_are_covered_too() -> None:
    told = json.dumps([str(HOME), list(map(str, MOUNTS)), list(map(str, SOCKETS))])
    ran = subprocess.run(
        [sys.executable, str(HELPER), "--mounts", sys.executable, "-c", PROGRAM, told], capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    if found["kind"] != "overlay":
        pytest.skip(f"no overlay here: {found['reason']}")
    assert found["connected"] == [] and found["read"] == ["mounted", "mounted"]
    assert found["written"] == [*map(str, MOUNTS), str(HOME), str(HOME / "folder"), "/tmp"]
    assert found["left"] == [] and found["bashrc"] == "# mine\n"
