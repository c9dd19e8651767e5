"""Calls are searched for in copies of the process, which can use a GPU only if the CUDA runtime was not started before they were made."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.entries.agent_package import agent_module

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux alone")


class Driver:
    """A machine with one GPU, as ``torch.cuda`` sees it: what NVML counts, and a runtime that notes which processes started it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, starts: Path, counted: int, found: int) -> None:
        import torch

        self._starts = starts
        monkeypatch.setattr(torch.cuda, "_is_compiled", lambda: True)
        monkeypatch.setattr(torch.cuda, "_device_count_nvml", lambda: counted)
        monkeypatch.setattr(torch.cuda, "_cached_device_count", None)
        monkeypatch.setattr(torch._C, "_cuda_getDeviceCount", lambda: self._start(found), raising=False)

    def _start(self, found: int) -> int:
        with self._starts.open("a") as file:
            file.write(f"{os.getpid()}\n")
        return found

    @property
    def has_started_here(self) -> bool:
        return self._starts.exists() and str(os.getpid()) in self._starts.read_text().split()


@pytest.fixture
def presence(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    module = agent_module("runtime.gpu_presence")
    monkeypatch.setattr(module, "_has_driver", lambda: True)
    for asked_once in (module.is_usable, module._count_by_library):
        asked_once.cache_clear()
    yield module
    for asked_once in (module.is_usable, module._count_by_library):
        asked_once.cache_clear()


@pytest.mark.parametrize("counted", [1, -1])  # by NVML; less than 0: it cannot tell, as of a part of a GPU (MIG)
def test_a_program_that_asks_for_a_gpu_leaves_it_to_the_copies(
    presence: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, counted: int
) -> None:
    import torch

    driver = Driver(monkeypatch, tmp_path / "starts", counted, found=1)
    asks_nvml = torch.cuda._nvml_based_avail
    with presence.copies_can_use_gpu():
        assert torch.cuda.is_available()
        assert not driver.has_started_here
        assert presence.NVML_CHECK not in os.environ
    assert torch.cuda._nvml_based_avail is asks_nvml
    assert torch.cuda.is_available()
    assert driver.has_started_here, "outside, torch asks as ever"


def test_a_driver_that_does_not_start_is_no_gpu(presence: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import torch

    driver = Driver(monkeypatch, tmp_path / "starts", counted=1, found=0)
    assert not presence.is_usable()
    assert not driver.has_started_here
    with presence.copies_can_use_gpu():
        assert not torch.cuda.is_available(), "what NVML counts and CUDA cannot start is not there"


def test_a_question_of_ours_warns_of_nothing(
    presence: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    import torch

    Driver(monkeypatch, tmp_path / "starts", counted=1, found=0)

    def refused() -> int:
        warnings.warn("CUDA initialization: Unexpected error from cudaGetDeviceCount()", stacklevel=1)
        return 0

    monkeypatch.setattr(torch._C, "_cuda_getDeviceCount", refused, raising=False)
    assert not presence.starts()
    assert [str(each.message) for each in recwarn] == []
    assert not torch.cuda.is_available()
    assert len(recwarn) == 1, "a question of the program's does"
