"""A call whose arguments our own look at them cannot read is refused where nothing else restricts it, and correct calls are not."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from compile_lens.agent.sandbox import calls

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="deletes the folder that it stands in")


class Reluctant:
    """A path that answers only the call itself."""

    def __init__(self) -> None:
        self.asked = 0

    def __fspath__(self) -> str:
        self.asked += 1
        if self.asked == 1:
            raise TypeError
        return "/elsewhere/file"


class Hook:
    """What the audit hook answers of a program in ``folder``."""

    def __init__(self, folder: Path, by_kernel: bool = False) -> None:
        rules = calls.Rules((str(folder),), (), network=False, own_network=False, processes=by_kernel)
        self.told: list[tuple[str, ...]] = []
        self._hook = calls._AuditHook(rules, lambda *refused: self.told.append(refused[:3]))

    def refuses(self, event: str, *arguments: Any) -> bool:
        try:
            self._hook.on_event(event, arguments)
        except PermissionError:
            return True
        return False


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The current folder is deleted, from which `..` still leads to those around it."""
    folder = tmp_path / "deleted"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    yield
    os.chdir(tmp_path)


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    for event, arguments in {
        "os.remove": (Reluctant(), -1),
        "os.rename": (str(tmp_path / "file"), Reluctant(), -1, -1),
        "os.mkdir": (),
        "socket.connect": (None, Reluctant()),
    }.items():
        hook = Hook(tmp_path)
        assert hook.refuses(event, *arguments), event
        assert [told[0::2] for told in hook.told] == [("process", event)]
    assert not Hook(tmp_path, by_kernel=True).refuses("os.mkdir")


@pytest.mark.usefixtures("nowhere")
def test_a_path_from_a_folder_that_is_deleted_is_refused(tmp_path: Path) -> None:
    hook = Hook(tmp_path / "scratch")
    assert hook.refuses("open", "../file", "w", 0)
    assert hook.refuses("os.mkdir", "../folder", 0o777, -1)
    assert not Hook(tmp_path, by_kernel=True).refuses("open", "file", "r", 0)


def test_a_report_that_fails_is_no_permission(tmp_path: Path) -> None:
    def fails(*_: object) -> None:
        raise OSError("the pipe is closed")

    rules = calls.Rules((str(tmp_path),), (), network=False, own_network=False, processes=False)
    with pytest.raises(PermissionError):
        calls._AuditHook(rules, fails).on_event("os.remove", ("/elsewhere/file", -1))


def test_calls_that_fail_by_themselves_or_need_no_look_do_as_ever(tmp_path: Path) -> None:
    hook = Hook(tmp_path)
    ended = subprocess.Popen(["true"])
    ended.wait()
    assert not hook.refuses("os.kill", ended.pid, signal.SIGTERM)
    closed = os.open(os.devnull, os.O_RDONLY)
    os.close(closed)
    assert not hook.refuses("os.chmod", closed, 0o600, -1)
    assert not hook.refuses("os.remove", "file", closed)
    here, there = socket.socketpair()
    with here, there:
        assert not hook.refuses("socket.sendmsg", here, None)
    reading, writing = os.pipe()
    assert not hook.refuses("os.chmod", writing, 0o600, -1)
    os.close(reading)
    os.close(writing)
    assert hook.told == []
