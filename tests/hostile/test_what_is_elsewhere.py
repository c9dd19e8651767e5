"""Devices besides those in /dev, and services in a folder that a run may change: tried without torch, in processes of their own."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import pytest
from tests.hostile.test_what_the_kernel_lacks import run
from tests.sandbox_kinds import skip_unless_offered

from compile_lens.agent.sandbox.device_places import device_places
from compile_lens.agent.sandbox.mounts import Mount

pytestmark = [
    pytest.mark.hostile,
    pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="mounts file systems"),
]
# the whole of /dev, and a part of it, as in the tree of a chroot; what is opened is harmless to read
DEVICES_ELSEWHERE = """\
import os, sys, tempfile
from compile_lens.agent.sandbox import kernel
from compile_lens.agent.sandbox.enter import enter
from compile_lens.agent.sandbox.policy import Policy

tree, scratch = sys.argv[1:]
tempfile.gettempdir()  # as the standby has asked
kernel.unshare(0x20000)
kernel.mount(None, "/", None, 0x44000)
kernel.mount("/dev", f"{tree}/dev", None, 0x1000 | 0x4000)
kernel.mount("tmpfs", f"{tree}/terminals", "tmpfs", 0)
kernel.mount("/dev/pts", f"{tree}/terminals", None, 0x1000)
open(f"{tree}/log", "w").close()
kernel.mount("/dev/kmsg", f"{tree}/log", None, 0x1000)
open(f"{tree}/nothing", "w").close()
kernel.mount("/dev/null", f"{tree}/nothing", None, 0x1000)
enter(Policy("landlock", scratch, (), (), False, False, 0, 1 << 24, 0, 0), "landlock", [tree], lambda *_: None)
import ctypes
libc, opened = ctypes.CDLL(None), []
for name in ("dev/kmsg", "dev/pts/ptmx", "terminals/ptmx", "log", "dev/null", "nothing", "text"):
    for flags in (os.O_RDONLY, os.O_RDWR):
        if libc.open(f"{tree}/{name}".encode(), flags | os.O_NONBLOCK | os.O_NOCTTY) >= 0:
            opened.append(name)
print(opened)
"""
# a service of the user's in a folder that the run may change, and one that the run makes there itself
SERVICES = """\
import os, socket, sys, tempfile
from compile_lens.agent.sandbox.enter import enter
from compile_lens.agent.sandbox.policy import Policy

kind, place, scratch = sys.argv[1:]
tempfile.gettempdir()  # as the standby has asked
os.chdir(place)
service = socket.socket(socket.AF_UNIX)
service.bind("service")
service.listen()
refused = []
policy = Policy(kind, scratch, (), (place,), False, False, 0, 1 << 24, 0, 0)
enter(policy, kind, [place], lambda what, does, target, frame: refused.append((what, os.path.basename(target))))
os.chdir(place)
reached = []
own = socket.socket(socket.AF_UNIX)
own.bind("own")
own.listen()
for name in ("service", "own"):
    try:
        socket.socket(socket.AF_UNIX).connect(os.path.join(place, name))
        reached.append(name)
    except OSError:
        pass
import ctypes
address = (1).to_bytes(2, "little") + f"{place}/service".encode() + b"\\0"
libc = ctypes.CDLL(None)
native = libc.connect(libc.socket(1, 1, 0), address, len(address))
print(reached, refused, native, os.path.exists(os.path.join(place, "own")))
"""


def test_no_device_is_opened_where_it_is_mounted_once_more(tmp_path: Path) -> None:
    skip_unless_offered("landlock")
    tree, scratch = tmp_path / "tree", tmp_path / "scratch"
    for folder in (tree / "dev", tree / "terminals", scratch):
        folder.mkdir(parents=True)
    (tree / "text").write_text("read")
    assert run(DEVICES_ELSEWHERE, str(tree), str(scratch)) == "['dev/null', 'dev/null', 'nothing', 'nothing', 'text']"


def test_places_of_devices_are_those_that_are_mounted() -> None:
    table = [
        Mount("8:1", "/", "/", "ext4"),
        Mount("0:20", "/", "/proc", "proc"),
        Mount("0:5", "/", "/dev", "tmpfs"),
        Mount("0:6", "/", "/dev/pts", "devpts"),
        Mount("0:5", "/null", "/proc/kcore", "tmpfs"),
        Mount("0:5", "/net", "/srv/net", "tmpfs"),
        Mount("0:7", "/", "/srv/chroot/dev", "devtmpfs"),
        Mount("0:6", "/", "/srv/chroot/dev/pts", "devpts"),
        Mount("0:8", "/", "/srv/other", "tmpfs"),
    ]
    assert device_places(table) == ["/dev", "/srv/chroot/dev", "/srv/net"]


@pytest.mark.parametrize("kind", ["overlay", "landlock"])
def test_a_service_in_a_folder_that_a_run_may_change_is_not_reached(kind: str) -> None:
    skip_unless_offered(kind)
    with tempfile.TemporaryDirectory() as place, tempfile.TemporaryDirectory() as scratch:
        reached = "['own'] [('network', 'service')]"
        # native code is not kept from it by Landlock
        assert run(SERVICES, kind, place, scratch) == f"{reached} {-1 if kind == 'overlay' else 0} True"
