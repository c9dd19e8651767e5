"""Our own process cleans where a program may still work: what the program swaps meanwhile leads nowhere."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from compile_lens.agent.runtime import left_folders
from compile_lens.agent.runtime.disk_growth import FILE_BYTES, size_below
from compile_lens.agent.runtime.left_folders import delete_below, remove_folder
from compile_lens.workers import cache_limit
from compile_lens.workers.cache_leases import sweep

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="names files by their folder")


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path, Path]:
    """Caches, the folder in them that a program swaps as soon as it has been seen, and a folder of the user's."""
    root, mine = tmp_path / "v1", tmp_path / "home"
    swapped = root / "inductor" / "sandboxed-1" / "folder"
    for folder in (swapped, mine):
        folder.mkdir(parents=True)
        (folder / "built.so").write_text("library")
    mine.chmod(0o755)
    opened = left_folders._open_folder

    def swap_and_open(name: str, around: int | None = None) -> int:
        if name == swapped.name and not swapped.is_symlink():
            swapped.rename(swapped.with_name("aside"))
            swapped.symlink_to(mine)
        return opened(name, around)

    monkeypatch.setattr(left_folders, "_open_folder", swap_and_open)
    return root, swapped, mine


def test_a_link_in_the_place_of_a_folder_leads_nowhere(places: tuple[Path, Path, Path]) -> None:
    root, swapped, mine = places
    assert sweep(root, 0.0) == 0
    assert swapped.is_symlink()
    remove_folder(str(swapped.parent))
    assert (mine / "built.so").read_text() == "library"
    assert mine.stat().st_mode & 0o777 == 0o755


def test_a_run_that_ends_while_the_caches_are_looked_through_moves_nothing_of_the_users(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sizes are looked at while runs go on; what is taken out afterwards may have become a link meanwhile, or be in one."""
    root, mine = tmp_path / "v1", tmp_path / "home"
    swapped = root / "inductor" / "sandboxed-1" / "folder"
    for folder in (swapped, mine):
        (folder / "documents").mkdir(parents=True)
        (folder / "documents" / "thesis").write_text("Chapter 1")
    remove = cache_limit._remove

    def swap_and_remove(root: Path, paths: list[Path]) -> None:
        swapped.rename(swapped.with_name("aside"))
        swapped.symlink_to(mine)
        remove(root, paths)

    monkeypatch.setattr(cache_limit, "_remove", swap_and_remove)
    cache_limit.limit(root, 1, now=True)
    assert (mine / "documents" / "thesis").read_text() == "Chapter 1"


def test_folders_count_and_none_is_counted_without_end(tmp_path: Path) -> None:
    for number in range(8):
        (tmp_path / str(number)).mkdir()
    assert size_below(str(tmp_path)) >= 8 * FILE_BYTES
    assert size_below(str(tmp_path), 2 * FILE_BYTES) < 4 * max(FILE_BYTES, tmp_path.stat().st_blocks * 512)


def test_only_what_is_unwanted_is_deleted_however_it_is_closed(tmp_path: Path) -> None:
    for name in ("a/b/x.so", "a/x.py", "y.so"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path / "a" / "b").chmod(0)
    assert delete_below(str(tmp_path), lambda name, _: name.endswith(".so")) == 2
    assert sorted(path.name for path in tmp_path.rglob("*.*")) == ["x.py"]
    deep = tmp_path
    for _ in range(left_folders.MAX_COMPILED_DEPTH + 2):
        deep = deep / "d"
        deep.mkdir()
    with pytest.raises(RecursionError):
        delete_below(str(tmp_path), lambda *_: False)
    remove_folder(str(tmp_path / "d"))
    assert os.listdir(tmp_path) == ["a"]  # noqa: PTH208
