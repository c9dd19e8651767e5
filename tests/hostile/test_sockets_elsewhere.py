"""Sockets of services under names that the kernel does not list: in folders that are mounted twice, below roots of the services' own."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest
from tests.hostile.test_what_the_kernel_lacks import run

from compile_lens.agent.sandbox.open_sockets import open_sockets

pytestmark = [pytest.mark.hostile, pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")]
NEEDS_ROOT = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="mounts, and changes its root")
SERVICES = """\
import os, socket, subprocess, sys
from pathlib import Path
from compile_lens.agent.sandbox import kernel
from compile_lens.agent.sandbox.open_sockets import open_sockets

folder, elsewhere, tree = map(Path, sys.argv[1:])
kernel.unshare(0x20000)
kernel.mount(None, "/", None, 0x44000)
plain = socket.socket(socket.AF_UNIX)
plain.bind(str(folder / "plain"))
kernel.mount(str(folder), str(elsewhere), None, 0x1000)
(tree / "run").mkdir()
ready, say = os.pipe()
wait, go = os.pipe()
child = os.fork()
if not child:
    os.close(go)
    os.chroot(tree)
    inside = socket.socket(socket.AF_UNIX)
    inside.bind("/run/inside")
    os.write(say, b"1")
    os.read(wait, 1)
    os._exit(0)
os.read(ready, 1)
found = open_sockets()
os.close(go)
os.waitpid(child, 0)
print([str(place) in found for place in (folder / "plain", elsewhere / "plain", tree / "run/inside")])
"""


@NEEDS_ROOT
def test_they_are_found_where_their_folder_is_mounted_too_and_below_a_root_of_the_services_own(tmp_path: Path) -> None:
    places = [tmp_path / name for name in ("folder", "elsewhere", "tree")]
    for place in places:
        place.mkdir()
    assert run(SERVICES, *map(str, places)) == "[True, True, True]"


def test_they_are_found_in_a_folder_whose_name_has_several_lines(tmp_path: Path) -> None:
    folder = tmp_path / "with\nline"
    folder.mkdir()
    with socket.socket(socket.AF_UNIX) as service:
        service.bind(str(folder / "service"))
        assert str(folder / "service") in open_sockets()
