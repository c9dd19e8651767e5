"""A folder for temporary files, or a workspace, that is another user's or below one: an ordinary user's run writes to a copy of it.

The kernel copies no folder whose owner or group a user namespace of one user does not know, nor what is inside.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.hostile,
    pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="needs root, to be somebody else"),
]
# becomes an ordinary user, whose folders are below those of others
BECOME = """\
import os, sys
from pathlib import Path
sys.path[:0] = [sys.argv[1]]
import ordinary_user
from compile_lens.agent.sandbox import kernel

kernel.unshare(0x20000)
kernel.mount(None, "/", None, 0x44000)
ordinary_user.open_the_way(ordinary_user.needed())
own, other = ordinary_user.USER, 777
for path, owner, group, mode in (
    ("/tmp/home", own, own, 0o755),
    ("/tmp/home/shared", own, other, 0o2770), ("/tmp/home/shared/work", own, own, 0o755),
    ("/tmp/other", other, other, 0o755), ("/tmp/other/own", own, own, 0o700),
    ("/tmp/open", other, other, 0o777),
):
    os.mkdir(path)
    os.chown(path, owner, group)
    os.chmod(path, mode)
Path("/tmp/other/own/kept").write_text("kept")
os.chown("/tmp/other/own/kept", own, own)
os.chdir("/")
ordinary_user.become_user()
os.environ["HOME"] = "/tmp/home"
os.execv(sys.executable, [sys.executable, "-c", sys.argv[2]])
"""
RUN = """\
import json, os, tempfile
from compile_lens.agent.sandbox.choice import choose
from compile_lens.agent.sandbox.enter import enter
from compile_lens.agent.sandbox.policy import Policy

for temporary, place in (("/tmp/other/own", "/tmp/home/shared/work"), ("/tmp/open", "/tmp/home")):
    os.environ["TMPDIR"], tempfile.tempdir = temporary, None
    chosen = choose("overlay", [place])
    scratch = tempfile.mkdtemp()
    if os.fork() == 0:
        policy = Policy("overlay", scratch, (), (), False, False, 0, 1 << 24, 0, 0, chosen.alone)
        entered = enter(policy, chosen.kind, [place], lambda *_: None)
        found = {"kind": entered.kind, "failed": []}
        for folder in (temporary, place, "/tmp"):
            try:
                with open(os.path.join(folder, "kept"), "a") as file:
                    file.write("changed")
                os.mkdir(os.path.join(folder, "new"))
            except OSError as error:
                found["failed"].append(str(error))
        found["written"] = [path for path in entered.written() if path.startswith(place + "/")]
        print(json.dumps(found), flush=True)
        os._exit(0)
    os.wait()
print(json.dumps(open("/tmp/other/own/kept").read()), os.path.exists("/tmp/other/own/new"))
"""


def test_what_is_below_another_users_folder_can_be_written_in_a_copy() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", BECOME, str(Path(__file__).parent), RUN], capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 0, ran.stderr
    first, second, after = ran.stdout.splitlines()
    if json.loads(first)["kind"] != "overlay":
        pytest.skip("no user namespaces here")
    assert json.loads(first) == {"kind": "overlay", "failed": [], "written": ["/tmp/home/shared/work/kept"]}
    assert json.loads(second)["failed"] == []
    assert after == '"kept" False'
