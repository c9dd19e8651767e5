"""Headers that runs share are made before a run whose kernels are C++, which is no run on a GPU."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from tests.entries.agent_package import agent_module


@pytest.fixture
def standby(monkeypatch: pytest.MonkeyPatch) -> Any:
    module = agent_module("runtime.standby")
    monkeypatch.setattr(module, "_serve_run", lambda *_: True)
    monkeypatch.setattr(module, "set_session_niceness", lambda _: None)
    monkeypatch.setattr(module, "why_not_fork", lambda _: "")
    return module


def makes_headers(standby: Any, monkeypatch: pytest.MonkeyPatch, program: str, *, machine: bool, allowed: bool) -> bool:
    made: list[Any] = []
    monkeypatch.setattr(standby.precompiled_headers, "make_shared", lambda *given: made.append(given))
    monkeypatch.setattr(standby.gpu_presence, "has_gpu", lambda: machine)
    command = SimpleNamespace(
        text=program,
        file="program.py",
        cwd="",
        own_interpreter=None,
        sandbox=SimpleNamespace(gpu=allowed, niceness=0, brought=()),
        depth=standby.Depth.INDUCTOR,
        preview=None,
    )
    assert standby._serve(command, 0, None, None)
    return bool(made)


def test_a_program_for_a_gpu_does_not_wait_for_them(standby: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    program = "import torch\nx = torch.ones(2, device='cuda')\n"
    assert not makes_headers(standby, monkeypatch, program, machine=True, allowed=True)


@pytest.mark.parametrize(("machine", "allowed"), [(False, True), (True, False)])
def test_where_it_gets_no_gpu_its_kernels_are_cpp(
    standby: Any, monkeypatch: pytest.MonkeyPatch, machine: bool, allowed: bool
) -> None:
    program = "import torch\nx = torch.ones(2, device='cuda')\n"
    assert makes_headers(standby, monkeypatch, program, machine=machine, allowed=allowed)


def test_a_program_for_the_processor_has_them_on_every_machine(standby: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert makes_headers(standby, monkeypatch, "import torch\nx = torch.ones(2)\n", machine=True, allowed=True)
