"""Calls by which a program that only the audit hook restricts would reach other processes: groups, owners of descriptors, `/proc`."""

from __future__ import annotations

import array
import os
import socket
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.workers.test_audited_calls import Hook

from compile_lens.agent.sandbox import other_processes, unaudited_calls

if sys.platform != "linux":
    pytest.skip("the numbers and the files of Linux", allow_module_level=True)

import fcntl

OTHER = os.getppid()
# of nobody: no process has so high a number
GROUP = 1 << 22
SIGNALED = ("process", "sends a signal to", f"process {OTHER}")
NEITHER = ("process", "has arguments that cannot be checked in", "fcntl.fcntl")
SETOWN, SETOWN_EX, FIOSETOWN, SIOCSPGRP = 8, 15, 0x8901, 0x8902


def test_no_group_of_others_is_joined() -> None:
    joins = unaudited_calls.JOINS
    assert Hook()(joins, 0, GROUP) == ("process", "joins the group of", f"process {GROUP}")
    for own in (0, os.getpid(), os.getpgid(0)):
        assert Hook()(joins, 0, own) is None
    with subprocess.Popen(["sleep", "60"]) as child:
        assert Hook()(joins, child.pid, child.pid) is None
        assert Hook()(joins, 0, child.pid) is None
        child.kill()


def test_joining_a_group_is_announced() -> None:
    asked: list[tuple[Any, ...]] = []
    join = unaudited_calls._joining(lambda *given: asked.append(given))
    join(0, True)
    assert asked == [(0, 1)]


@pytest.mark.parametrize(
    ("event", "code", "value"),
    [
        ("fcntl.fcntl", SETOWN, OTHER),
        ("fcntl.fcntl", SETOWN, (1 << 32) + OTHER),
        ("fcntl.fcntl", SETOWN_EX, struct.pack("ii", 1, OTHER)),
        ("fcntl.ioctl", FIOSETOWN, struct.pack("i", OTHER)),
        ("fcntl.ioctl", SIOCSPGRP, array.array("i", [OTHER])),
    ],
)
def test_no_other_process_is_signaled_when_there_is_input(event: str, code: int, value: Any) -> None:
    assert Hook()(event, 0, code, value) == SIGNALED


def test_nor_is_another_group() -> None:
    group = ("process", "sends a signal to", f"process {-GROUP}")
    assert Hook()("fcntl.fcntl", 0, SETOWN, -GROUP) == group
    assert Hook()("fcntl.fcntl", 0, SETOWN_EX, struct.pack("ii", 2, GROUP)) == group


def test_an_owner_that_is_told_by_an_address_cannot_be_checked() -> None:
    class Changing:
        def __index__(self) -> int:
            return os.getpid()

    assert Hook()("fcntl.fcntl", 0, SETOWN_EX, 1 << 20) == NEITHER
    assert Hook()("fcntl.fcntl", 0, SETOWN, Changing()) == NEITHER


def test_a_program_owns_its_descriptors_and_does_all_else_with_them() -> None:
    for event, code, value in (
        ("fcntl.fcntl", SETOWN, os.getpid()),
        ("fcntl.fcntl", SETOWN, -os.getpgid(0)),
        ("fcntl.fcntl", SETOWN_EX, struct.pack("ii", 1, os.getpid())),
        ("fcntl.ioctl", FIOSETOWN, struct.pack("i", os.getpid())),
        ("fcntl.fcntl", fcntl.F_GETFL, 0),
        ("fcntl.fcntl", 10, 9),
        ("fcntl.ioctl", 0x5413, 1 << 40),
    ):
        assert Hook()(event, 0, code, value) is None


@pytest.mark.parametrize(
    "name", ["environ", "mem", "maps", "fd/0", "root/etc", "task/{other}/environ", "../{other}/auxv"]
)
def test_what_another_process_has_is_not_read(name: str) -> None:
    path = f"/proc/{OTHER}/{name.format(other=OTHER)}"
    assert Hook()("open", path, "r", 0) == ("read", "reads", path)


def test_a_link_and_a_folder_that_is_open_lead_there_no_more_than_the_name(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(f"/proc/{OTHER}/environ")
    assert Hook()("open", str(tmp_path / "link"), "r", 0) is not None
    folder = os.open(f"/proc/{OTHER}", os.O_RDONLY)
    try:
        assert Hook()("open", f"/proc/self/fd/{folder}/environ", "r", 0) is not None
        assert Hook()("open", "environ", None, os.O_RDONLY) is not None
    finally:
        os.close(folder)


def test_its_own_files_and_those_that_everybody_lists_are_read() -> None:
    reading, writing = socket.socketpair()
    with subprocess.Popen(["sleep", "60"]) as child, reading, writing:
        for path in (
            "/proc/self/environ", "/proc/self/maps", "/proc/thread-self/stack", f"/proc/{os.getpid()}/fd/{reading.fileno()}",
            f"/proc/{child.pid}/environ", f"/proc/{OTHER}/stat", f"/proc/{OTHER}/cmdline", "/proc/meminfo", "/dev/stdin",
        ):  # fmt: skip
            assert Hook()("open", path, "r", 0) is None, path
        child.kill()
    assert not other_processes.is_private("/proc/not there/environ")
