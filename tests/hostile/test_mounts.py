"""File systems that are mounted inside a folder which a sandbox covers: their sockets lead nowhere, and what is written is discarded.

And what an ordinary user's run may take of what the kernel counts for the user.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

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
import ctypes, json, os, socket, sys, tempfile
sys.path.insert(0, "server")
from compile_lens.agent.sandbox.choice import choose
from compile_lens.agent.sandbox.enter import enter
from compile_lens.agent.sandbox.policy import Policy

home, mounts, sockets = json.loads(sys.argv[1])
place = os.path.join(home, "folder")
chosen = choose("overlay", [place])
open(os.path.join(place, "program.py"), "w").close()
scratch = tempfile.mkdtemp()
reading, writing = os.pipe()
if os.fork() == 0:
    policy = Policy("overlay", scratch, (), (), False, False, 0, 1 << 24, 0, 0, chosen.alone)
    entered = enter(policy, chosen.kind, [place], lambda *_: None)
    found = {"kind": entered.kind, "reason": chosen.reason, "connected": [], "written": [], "read": []}
    found["discarded at first"] = entered.written()
    libc = ctypes.CDLL(None)
    found["watchers"] = sum(libc.inotify_init1(0) >= 0 for _ in range(int(open("/proc/sys/fs/inotify/max_user_instances").read())))
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
    found["discarded"] = [path for path in entered.written() if path.startswith(place)]
    os.write(writing, json.dumps(found).encode())
    os._exit(0)
os.close(writing)
os.wait()
found = json.loads(os.fdopen(reading).read())
left = [path for path in [*mounts, home, place, "/tmp"] if os.path.exists(os.path.join(path, "new"))]
print(json.dumps({**found, "left": left, "bashrc": open(os.path.join(home, ".bashrc")).read()}))
"""


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    """What a run of an ordinary user could do."""
    told = json.dumps([str(HOME), list(map(str, MOUNTS)), list(map(str, SOCKETS))])
    ran = subprocess.run(
        [sys.executable, str(HELPER), "--mounts", sys.executable, "-c", PROGRAM, told], capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout)
    if found["kind"] != "overlay":
        pytest.skip(f"no overlay here: {found['reason']}")
    return found


def test_mounts_inside_covered_folders_are_covered_too(found: dict[str, Any]) -> None:
    assert found["connected"] == [] and found["read"] == ["mounted", "mounted"]
    assert found["written"] == [*map(str, MOUNTS), str(HOME), str(HOME / "folder"), "/tmp"]
    assert found["left"] == [] and found["bashrc"] == "# mine\n"


def test_only_what_the_run_wrote_is_told_as_discarded(found: dict[str, Any]) -> None:
    assert found["discarded at first"] == []
    assert found["discarded"] == [str(HOME / "folder" / "new")]


def test_a_run_takes_a_share_of_the_users_watchers(found: dict[str, Any]) -> None:
    whole = int(Path("/proc/sys/fs/inotify/max_user_instances").read_text())
    assert found["watchers"] == whole // 8
