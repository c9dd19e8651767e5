"""A run that leaves very many files in its scratch folder has its answer before all of them are deleted."""

from __future__ import annotations

import itertools
import sys
import threading
from pathlib import Path

import pytest

from compile_lens.agent.runtime.left_folders import remove_folder
from compile_lens.workers import scratch
from compile_lens.workers.scratch import earlier_are_gone, scratch_folder

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="names files by their folder")
DEEP = 40


def fill(folder: Path) -> None:
    """Files and folders beside and below each other, and one that is closed."""
    for number in range(DEEP):
        (folder / f"side-{number}" / "in").mkdir(parents=True)
        (folder / f"side-{number}" / "in" / "file").touch()
        (folder / f"file-{number}").touch()
    deep = folder
    for number in range(DEEP):
        deep = deep / f"deep-{number}"
        deep.mkdir()
        (deep / "file").touch()
    (folder / "side-1").chmod(0)


def size(folder: Path) -> int:
    return sum(1 for _ in folder.rglob("*")) if folder.exists() else 0


def test_no_more_is_deleted_than_there_is_time_for(tmp_path: Path) -> None:
    folder = tmp_path / "scratch"
    folder.mkdir()
    fill(folder)
    ticks = itertools.count()
    sizes = [size(folder)]
    while not remove_folder(str(folder), 25, lambda: float(next(ticks))):
        sizes.append(size(folder))
        # folders that are moved count as before
        assert sizes[-2] - 30 <= sizes[-1] <= sizes[-2] and len(sizes) < 50
    assert len(sizes) > 5
    assert not folder.exists()


def test_what_cannot_be_deleted_is_not_waited_for(tmp_path: Path) -> None:
    folder = tmp_path / "scratch"
    folder.mkdir()
    assert remove_folder(str(tmp_path / "none"), 1)
    (folder / "file").touch()
    assert not remove_folder(str(folder), -1)
    assert remove_folder(str(folder))
    assert not folder.exists()


async def test_the_next_run_begins_when_all_is_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratch, "SOON_S", -1)
    with scratch_folder() as place:
        folder = Path(place)
        folder.mkdir()
        fill(folder)
    for thread in threading.enumerate():
        if thread.name == "scratch":
            thread.join()
    assert not folder.exists()
    folder.mkdir()
    fill(folder)
    await earlier_are_gone()
    assert not folder.exists()
