"""What a run puts into folders that its user may enter, and not list, counts as what it puts elsewhere."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from ordinary_user import as_ordinary_user

from compile_lens.agent.runtime.disk_growth import DiskGrowth, seen_below
from compile_lens.agent.runtime.left_folders import delete_one, open_closed, remove_folder
from compile_lens.agent.runtime.shared_files import NewFiles, SharedFiles
from compile_lens.workers.cache_limit import measure

pytestmark = [
    pytest.mark.hostile,
    pytest.mark.xdist_group("hostile"),
    pytest.mark.skipif(sys.platform != "linux", reason="measures /dev/shm"),
]
MIB = 1 << 20
# it can be entered, and not listed; it can be listed, and nothing be learned of what is in it
CLOSED = (0o300, 0o600)


@pytest.fixture
def folder() -> Iterator[Path]:
    """In memory, whose room changes with few other programs."""
    made = Path(tempfile.mkdtemp(prefix="compile-lens-test-", dir="/dev/shm"))
    made.chmod(0o777)
    yield made
    remove_folder(str(made))


def fill(folder: Path, mode: int, size: int = 8 * MIB) -> None:
    folder.mkdir()
    (folder / "data").write_bytes(os.urandom(size))
    folder.chmod(mode)


@pytest.mark.parametrize("mode", CLOSED, ids=oct)
def test_they_count_for_the_disk(folder: Path, mode: int, tmp_path: Path) -> None:
    def check() -> None:
        growth = DiskGrowth((str(folder),), (), MIB)
        assert growth.bytes([os.getpid()]) == 0
        fill(folder / "closed", mode)
        assert not seen_below(str(folder))[1]
        assert growth.bytes([os.getpid()]) > 4 * MIB

    as_ordinary_user(check, tmp_path)


@pytest.mark.parametrize("mode", CLOSED, ids=oct)
def test_those_of_an_earlier_run_are_opened_and_are_not_of_this_one(folder: Path, mode: int, tmp_path: Path) -> None:
    def check() -> None:
        fill(folder / "earlier", 0o700)
        fill(folder / "earlier" / "inner", mode)
        (folder / "earlier").chmod(mode)
        growth = DiskGrowth((str(folder),), (), MIB)
        size, is_all = seen_below(str(folder))
        assert is_all and size > 16 * MIB
        assert growth.bytes([os.getpid()]) == 0

    as_ordinary_user(check, tmp_path)


def test_a_link_in_the_place_of_one_is_not_followed(folder: Path, tmp_path: Path) -> None:
    def check() -> None:
        private = folder / "private"
        fill(private, 0o300)
        (folder / "caches").mkdir()
        (folder / "caches" / "link").symlink_to(private)
        open_closed(str(folder / "caches"))
        assert private.stat().st_mode & 0o777 == 0o300

    as_ordinary_user(check, tmp_path)


def test_the_size_of_the_caches_tells_of_them(folder: Path, tmp_path: Path) -> None:
    def check() -> None:
        (folder / "inductor").mkdir()
        fill(folder / "inductor" / "closed", 0o300)
        assert next(part.bytes for part in measure(folder) if part.name == "inductor") >= 8 * MIB

    as_ordinary_user(check, tmp_path)


def test_a_folder_that_an_earlier_run_has_left_counts_when_it_is_filled(folder: Path) -> None:
    shared = SharedFiles()
    (folder / "data").write_bytes(bytes(20 * MIB))
    assert shared.look_at_sizes().bytes >= 20 * MIB


def nest(folder: Path) -> None:
    """Folders in one another, whose last has a path that is longer than any that can be named, and a file in it."""
    here = os.open(folder, os.O_RDONLY)
    for _ in range(20):
        os.mkdir("f" * 250, dir_fd=here)
        inner = os.open("f" * 250, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    data = os.open("data", os.O_CREAT | os.O_WRONLY, 0o600, dir_fd=here)
    os.write(data, bytes(2 * MIB))
    os.close(data)
    os.close(here)


def test_what_is_too_deep_to_be_named_counts_as_too_much_and_goes_with_the_next_run(folder: Path) -> None:
    growth = DiskGrowth((str(folder),), (), MIB)
    nest(folder)
    assert growth.bytes([os.getpid()]) > MIB
    later = DiskGrowth((str(folder),), (), MIB)
    assert not list(folder.iterdir())
    (folder / "data").write_bytes(os.urandom(8 * MIB))
    assert later.bytes([os.getpid()]) > MIB


def test_what_an_earlier_run_has_left_counts_by_how_much_it_grows(folder: Path) -> None:
    file = folder / "left"
    file.write_bytes(b"x")
    shared = SharedFiles()
    file.write_bytes(bytes(20 * MIB))
    assert shared.look_at_sizes().bytes >= 19 * MIB
    assert shared.of_run({os.getpid()})[str(file)] >= 19 * MIB
    shared.look({os.getpid()})
    shared.remove_left()
    assert file.exists(), "it is not of this run"


def test_files_that_two_runs_hold_count_for_both() -> None:
    path = Path(f"/dev/shm/compile-lens-test-{os.getpid()}-held")
    shared = SharedFiles()
    with path.open("wb") as file:
        file.write(bytes(MIB))
        file.flush()
        other = os.fork()
        if other == 0:
            signal.pause()
        try:
            shared.look({os.getpid()})
            assert str(path) in shared.of_run({os.getpid()})
        finally:
            os.kill(other, signal.SIGKILL)
            os.waitpid(other, 0)
            path.unlink()


def test_no_link_in_the_place_of_a_folder_leads_to_a_file_that_is_deleted(folder: Path, tmp_path: Path) -> None:
    (folder / "of-a-run").mkdir()
    (tmp_path / "private").mkdir()
    for place in (folder / "of-a-run", tmp_path / "private"):
        (place / "psm_1").write_bytes(b"x")
    made = folder / "of-a-run" / "psm_1"
    key = (made.stat().st_dev, made.stat().st_ino)
    (folder / "of-a-run").rename(folder / "elsewhere")
    (folder / "of-a-run").symlink_to(tmp_path / "private")
    assert not delete_one(str(folder), "of-a-run/psm_1", key)
    assert (tmp_path / "private" / "psm_1").exists()
    assert not delete_one(str(folder), "elsewhere/psm_1", (key[0], key[1] + 1))
    assert delete_one(str(folder), "elsewhere/psm_1", key)
    assert not (folder / "elsewhere" / "psm_1").exists()


def test_folders_of_shared_memory_count_and_what_libraries_leave_in_them_goes(tmp_path: Path) -> None:
    def check() -> None:
        shared, new = SharedFiles(), Path(f"/dev/shm/compile-lens-test-{os.getpid()}")
        assert shared.look_at_sizes() == NewFiles()
        fill(new, 0o700)
        kept, of_library = new / "data", new / "more" / "psm_1234"
        of_library.parent.mkdir()
        of_library.write_bytes(b"x" * MIB)
        seen = shared.look_at_sizes()
        assert seen.bytes >= 9 * MIB and seen.is_all
        shared.remove_left()
        assert kept.exists() and not of_library.parent.exists()
        new.chmod(0o300)
        assert not shared.look_at_sizes().is_all
        remove_folder(str(new))

    as_ordinary_user(check, tmp_path)
