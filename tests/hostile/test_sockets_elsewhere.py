"""Sockets of services under names that the kernel does not list: in folders that are mounted twice, below roots of the services' own."""

from __future__ import annotations

import os
import socket
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.hostile.test_what_the_kernel_lacks import run

from compile_lens.agent.sandbox.moved_sockets import bound_files, other_places
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


@pytest.fixture
def folder_elsewhere() -> Iterator[Path]:
    """A folder that no run gets a copy of, on the file system of the root."""
    with tempfile.TemporaryDirectory(dir="/var/lib" if os.access("/var/lib", os.W_OK) else None) as name:
        yield Path(name)


def test_one_that_was_moved_is_found_and_so_is_its_second_name(folder_elsewhere: Path) -> None:
    first, second = folder_elsewhere / "first", folder_elsewhere / "second"
    for folder in (first, second):
        folder.mkdir()
    with socket.socket(socket.AF_UNIX) as moved, socket.socket(socket.AF_UNIX) as linked:
        moved.bind(str(first / "moved"))
        linked.bind(str(first / "linked"))
        if not bound_files():
            pytest.skip("the kernel does not tell the files of sockets")
        (first / "moved").rename(second / "elsewhere")
        (second / "linked-too").hardlink_to(first / "linked")
        places = {str(second / "elsewhere"), str(second / "linked-too")}
        known = [str(first / "linked"), str(first / "moved")]
        assert set(other_places(known, [])) >= places
        assert not places & set(other_places(known, [str(second)]))
        shared = folder_elsewhere.parent == Path("/var/lib")
        assert not shared or places <= set(open_sockets())
    assert not places & set(other_places(known, []))  # nobody has it open


IN_AN_OVERLAY = """\
import os, socket, sys
from compile_lens.agent.sandbox import kernel, moved_sockets
from compile_lens.agent.sandbox.moved_sockets import bound_files, other_places

base = sys.argv[1]
first, second = base + "/seen/first", base + "/seen/second"
kernel.unshare(0x20000)
kernel.mount(None, "/", None, 0x44000)
try:
    kernel.mount("overlay", base + "/seen", "overlay", 0, f"lowerdir={base}/lower,upperdir={base}/upper,workdir={base}/work")
except OSError:  # on top of another one, none can be
    sys.exit("no overlay")
for folder in (first, second):
    os.mkdir(folder)
service = socket.socket(socket.AF_UNIX)
service.bind(first + "/service")
os.rename(first + "/service", second + "/elsewhere")
found = [other_places([first + "/service"], [])]
# as where the number that the kernel tells is another one than folders show
told = moved_sockets.bound_files()
moved_sockets.bound_files = lambda: {(device, number + 1) for device, number in told}
found.append(other_places([first + "/service"], []))
print([second + "/elsewhere" in places for places in found] if told else [True, True])
"""


@NEEDS_ROOT
def test_one_that_was_moved_in_an_overlay_is_found(tmp_path: Path) -> None:
    for name in ("seen", "lower", "upper", "work"):
        (tmp_path / name).mkdir()
    assert run(IN_AN_OVERLAY, str(tmp_path)) in ("[True, True]", "no overlay")
