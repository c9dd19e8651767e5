"""What is swept out of the temporary folder, where anybody may put anything."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from compile_lens.workers.scratch import PREFIX, sweep


def test_names_that_nobody_gave_are_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    names = ["²-a", "-a", "1²-a", f"{'9' * 200}-a", "x-a", "-1-a"]
    for name in names:
        (tmp_path / f"{PREFIX}{name}").mkdir()
    left = tmp_path / f"{PREFIX}{2**31 - 2}-a"
    left.mkdir()
    sweep()
    assert not left.exists()
    assert (tmp_path / f"{PREFIX}²-a").exists()
