"""Calls of Windows, as CPython's events tell of them, and calls that raise no event: what is refused, and what goes on."""

from __future__ import annotations

import os
import sys
from types import ModuleType
from typing import Any

import pytest
from tests.workers.test_audited_calls import Hook

from compile_lens.agent.sandbox import windows_calls

READ, WRITE, APPEND, DELETE, QUERY = 0x80000000, 0x40000000, 0x4, 0x10000, 0x1000
OPENS, MAKES = 3, 2


@pytest.mark.parametrize(
    ("event", "arguments", "refused"),
    [
        ("_winapi.CreateFile", ("/elsewhere/x", WRITE, 0, OPENS, 0), ("write", "writes", "/elsewhere/x")),
        ("_winapi.CreateFile", ("/elsewhere/x", APPEND, 0, OPENS, 0), ("write", "writes", "/elsewhere/x")),
        ("_winapi.CreateFile", ("/elsewhere/x", DELETE, 0, OPENS, 0), ("write", "writes", "/elsewhere/x")),
        ("_winapi.CreateFile", ("/elsewhere/x", READ, 0, MAKES, 0), ("write", "writes", "/elsewhere/x")),
        ("_winapi.CreateFile", ("/elsewhere/x", READ, 0, OPENS, 0), None),
        ("_winapi.CreateFile", ("/own/x", WRITE, 0, MAKES, 0), None),
        ("_winapi.CreateFile", ("/secret/key", READ, 0, OPENS, 0), ("read", "reads", "/secret/key")),
        ("_winapi.CreateFile", ("\\\\.\\pipe\\pyc-7-0", READ | WRITE, 0, OPENS, 0), None),
        ("_winapi.CopyFile2", ("/own/x", "/elsewhere/x", 0), ("write", "writes", "/elsewhere/x")),
        ("_winapi.CopyFile2", ("/secret/key", "/own/x", 0), ("read", "reads", "/secret/key")),
        ("_winapi.CopyFile2", ("/elsewhere/x", "/own/x", 0), None),
        ("_winapi.CreateJunction", ("/elsewhere", "/elsewhere/link"), ("write", "links", "/elsewhere/link")),
        ("_winapi.CreateJunction", ("/elsewhere", "/own/link"), None),
        ("_winapi.OpenProcess", (7, 1), ("process", "sends a signal to", "process 7")),
        ("_winapi.OpenProcess", (7, QUERY), None),
        ("_winapi.OpenProcess", (os.getpid(), 1), None),
        ("winreg.ConnectRegistry", ("\\\\other",), ("network", "connects to", "\\\\other")),
        ("winreg.ConnectRegistry", (None,), None),
        ("winreg.DisableReflectionKey", (1,), ("write", "writes", "the registry")),
        ("sys.remote_exec", (7, "/own/script.py"), ("process", "runs code in", "process 7")),
        ("sys.remote_exec", (os.getpid(), "/own/script.py"), None),
    ],
)
def test_what_is_refused(event: str, arguments: tuple[Any, ...], refused: tuple[str, str, str] | None) -> None:
    assert Hook("/secret", writable=("/own",))(event, *arguments) == refused


class RealOverlapped:
    """As asyncio uses it."""

    address = 7

    def __init__(self, event: int) -> None:
        self.done: list[Any] = [event]

    def ConnectEx(self, *given: Any) -> None:  # noqa: N802 - as the module in C calls it
        self.done.append(given[-1])

    WSASendTo = ConnectPipe = WSARecv = ConnectEx


def test_asyncio_connects_and_opens_by_calls_that_are_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("_overlapped")
    connected: list[Any] = []
    vars(module).update(Overlapped=RealOverlapped, WSAConnect=lambda descriptor, address: connected.append(address))
    monkeypatch.setitem(sys.modules, "_overlapped", module)
    told: list[Any] = []
    monkeypatch.setattr(windows_calls.sys, "audit", lambda *event: told.append(event))
    windows_calls.announce()
    operation = module.Overlapped(0)
    operation.ConnectEx(3, ("192.0.2.7", 80))
    operation.WSASendTo(3, b"", 0, ("192.0.2.7", 53))
    operation.ConnectPipe("/elsewhere/x")
    operation.WSARecv(3, 10)
    module.WSAConnect(3, ("192.0.2.7", 81))
    assert operation.address == RealOverlapped.address
    assert operation.done == [0, ("192.0.2.7", 80), ("192.0.2.7", 53), "/elsewhere/x", 10]
    assert connected == [("192.0.2.7", 81)]
    assert [Hook(writable=("/own",))(*event) for event in told] == [
        ("network", "connects to", "192.0.2.7:80"),
        ("network", "connects to", "192.0.2.7:53"),
        ("write", "writes", "/elsewhere/x"),
        ("network", "connects to", "192.0.2.7:81"),
    ]
