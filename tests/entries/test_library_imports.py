"""Libraries are imported without the function that profiles a script; modules of the project are imported with it."""

from __future__ import annotations

import builtins
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from tests.entries.agent_package import agent_module

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

OWN = """\
import colorsys

def lighter(color):
    return colorsys.rgb_to_hls(*color)

RESULT = lighter((0.1, 0.2, 0.3))
"""


def imported_under_a_profile(folder: Path, monkeypatch: pytest.MonkeyPatch, is_on: bool) -> tuple[set[str], bool]:
    """The names of the functions and modules that the profile saw, and whether it was there at the end."""
    import torch

    assert torch.__file__, "where libraries are is told by where torch is"
    not_profiled = agent_module("inputs.recording.library_imports").not_profiled
    (folder / "own_colors.py").write_text(OWN)
    monkeypatch.syspath_prepend(folder)
    for name in ("colorsys", "own_colors"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    seen: set[str] = set()

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            seen.add(f"{Path(frame.f_code.co_filename).stem}.{frame.f_code.co_name}")

    original = builtins.__import__
    with not_profiled(lambda: is_on, profile, lambda path: path.startswith(str(folder))):
        sys.setprofile(profile)
        try:
            import own_colors

            is_there = sys.getprofile() is profile
        finally:
            sys.setprofile(None)
    assert own_colors.RESULT and builtins.__import__ is original
    return seen, is_there


def test_only_the_import_of_the_library_is_not_profiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen, is_there = imported_under_a_profile(tmp_path, monkeypatch, True)
    assert {"own_colors.<module>", "own_colors.lighter", "colorsys.rgb_to_hls"} <= seen
    assert "colorsys.<module>" not in seen
    assert is_there


def test_a_profile_that_was_stopped_meanwhile_does_not_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, is_there = imported_under_a_profile(tmp_path, monkeypatch, False)
    assert "own_colors.lighter" not in seen
    assert not is_there
