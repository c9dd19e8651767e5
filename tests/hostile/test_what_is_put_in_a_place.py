"""What takes the place of a folder between the decision about it and the rule: tried without torch, in processes of their own."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import pytest
from tests.hostile.test_what_the_kernel_lacks import run
from tests.sandbox_kinds import skip_unless_offered

pytestmark = [pytest.mark.hostile, pytest.mark.skipif(sys.platform != "linux", reason="the kinds are those of Linux")]
# reads by rules for a folder, one that has become a link, and one in a folder that has
RULES = """\
import os, sys
from compile_lens.agent.sandbox import kernel, landlock

folder = sys.argv[1]
if not landlock.abi():
    raise SystemExit("no Landlock")
rules = landlock.Ruleset(landlock.abi(), reads=True)
rules.allow_reads([f"{folder}/open", f"{folder}/became-a-link", f"{folder}/around/inside"])
rules.allow_writes([f"{folder}/became-a-link"])
rules.allow_devices([f"{folder}/became-a-device"])
kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
rules.restrict()
may = []
for name, flags in (("open", os.O_RDONLY), ("secret", os.O_RDONLY), ("elsewhere/inside", os.O_RDONLY), ("secret", os.O_WRONLY)):
    try:
        os.close(os.open(f"{folder}/{name}/key", flags))
        may.append(name)
    except PermissionError:
        pass
print(may)
"""
# a process outside puts a link to a secret in the place of a folder of the run, once it is known that it is none
COVER = """\
import os, socket, sys, tempfile
from compile_lens.agent.sandbox import namespaces
from compile_lens.agent.sandbox.enter import enter
from compile_lens.agent.sandbox.policy import Policy, secrets

home, place, scratch = sys.argv[1:]
tempfile.gettempdir()  # as the standby has asked
asks, answers = socket.socketpair()
if os.fork() == 0:
    asks.close()
    if answers.recv(1):
        os.rename(place, f"{place}-before")
        os.symlink(f"{home}/.ssh", place)
        answers.send(b"x")
    os._exit(0)
answers.close()
cover = namespaces._cover

def cover_late(*decided):
    asks.send(b"x")
    asks.recv(1)
    return cover(*decided)

namespaces._cover = cover_late
policy = Policy("overlay", scratch, (), (), False, False, 0, 1 << 24, 0, 0, False, (), tuple(secrets()))
try:
    enter(policy, "overlay", [place], lambda *_: None)
    print(os.listdir(place))
except OSError as error:
    print(error)
"""


def test_a_rule_is_about_the_path_that_was_decided_about(tmp_path: Path) -> None:
    for name in ("open", "secret", "elsewhere/inside"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "key").write_text("planted")
    (tmp_path / "became-a-link").symlink_to("secret")
    (tmp_path / "became-a-device").symlink_to("secret")
    (tmp_path / "around").symlink_to("elsewhere")
    assert run(RULES, str(tmp_path)) == "['open']"


@pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="makes a folder outside of all that are covered"
)
def test_a_link_in_the_place_of_a_folder_is_not_covered_with_what_it_leads_to() -> None:
    skip_unless_offered("overlay")
    # where no other folder is covered with it
    with tempfile.TemporaryDirectory(dir="/opt") as around:
        home, place, scratch = (Path(around) / name for name in ("home", "place", "scratch"))
        for folder in (home / ".ssh", place, scratch):
            folder.mkdir(parents=True)
        (home / ".ssh/id").write_text("planted")
        said = run(COVER, str(home), str(place), str(scratch), HOME=str(home))
    assert said == f"{place} has become a link"
