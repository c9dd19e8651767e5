"""Files that are written beside the user's follow no link of a repository, and lose nothing that the user has."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
from pathlib import Path

import click
import msgspec
import pytest

from compile_lens.agent.runtime.regular_file import FEW_BYTES
from compile_lens.cli.fix import _write
from compile_lens.diff.json_bytes import json_bytes
from compile_lens.repro import beside
from compile_lens.repro.beside import LARGEST_VALUES, copy_values, nothing_left, values_folder
from compile_lens.repro.expressions import CannotWrite
from compile_lens.repro.history import history_file
from compile_lens.state.atomic_file import copy_beside, write_beside, write_named
from compile_lens.workers.command import caches_of
from compile_lens.workers.job import Job


def test_a_file_of_ours_takes_the_place_of_a_link(tmp_path: Path) -> None:
    elsewhere, nowhere = tmp_path / "elsewhere", tmp_path / "nowhere"
    elsewhere.write_text("mine")
    for number, target in enumerate((elsewhere, nowhere)):
        for write in (write_beside, lambda path, text: copy_beside(_with(tmp_path / "from", text), path, 99)):
            path = tmp_path / f"repro_{number}.py"
            path.unlink(missing_ok=True)
            path.symlink_to(target)
            write(path, "print()\n")
            assert (path.is_symlink(), path.read_text()) == (False, "print()\n")
    assert elsewhere.read_text() == "mine"
    assert not nowhere.exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes")
def test_what_is_no_file_is_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(os.devnull)
    for name in ("pipe", "folder", "link"):
        with pytest.raises(OSError):
            write_beside(tmp_path / name, "")
        with pytest.raises(OSError):
            copy_beside(_with(tmp_path / "from", ""), tmp_path / name, 99)
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert (tmp_path / "link").is_symlink()


@pytest.mark.skipif(not hasattr(os, "umask"), reason="modes")
def test_a_file_that_the_user_named_is_what_they_mean(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "target")
    (tmp_path / "null").symlink_to(os.devnull)
    before = os.umask(0o027)
    try:
        for name in ("link", "null", "plain"):
            write_named(tmp_path / name, "text")
    finally:
        os.umask(before)
    assert (tmp_path / "target").read_text() == (tmp_path / "plain").read_text() == "text"
    assert (tmp_path / "link").is_symlink() and (tmp_path / "null").is_symlink()
    assert stat.S_IMODE((tmp_path / "plain").stat().st_mode) == 0o640


def test_a_folder_of_the_users_with_the_name_of_ours_stays(tmp_path: Path) -> None:
    out = tmp_path / "repro_GB0001.py"
    folder = values_folder(out)
    folder.mkdir()
    (folder / "mine.pt").write_text("mine")

    async def fail() -> None:
        async with nothing_left(out):
            write_beside(out, "")
            raise CannotWrite("no")

    with pytest.raises(CannotWrite, match="no"):
        asyncio.run(fail())
    assert ((folder / "mine.pt").read_text(), out.exists()) == ("mine", False)


def test_values_are_not_written_through_links(tmp_path: Path) -> None:
    values, folder, elsewhere = tmp_path / "values", tmp_path / "repro_values", tmp_path / "elsewhere"
    values.mkdir()
    _with(values / "saved_0.pt", "values")
    elsewhere.mkdir()
    folder.symlink_to(elsewhere)
    with pytest.raises(CannotWrite):
        copy_values(values, folder, ["saved_0"])
    folder.unlink()
    folder.mkdir()
    (folder / "saved_0.pt").symlink_to(_with(elsewhere / "mine", "mine"))
    copy_values(values, folder, ["saved_0"])
    assert ((folder / "saved_0.pt").read_text(), (elsewhere / "mine").read_text()) == ("values", "mine")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes")
def test_only_files_are_taken_for_the_values_of_a_run(tmp_path: Path) -> None:
    """A run may leave anything under their names, and name anything as one of them."""
    values, folder = tmp_path / "values", tmp_path / "repro_values"
    values.mkdir()
    _with(tmp_path / "key.pt", "mine")
    os.mkfifo(values / "saved_0.pt")
    (values / "saved_1.pt").symlink_to(tmp_path / "key.pt")
    (values / "saved_2.pt").symlink_to("/dev/zero")
    (values / "saved_3.pt").mkdir()
    with (values / "saved_4.pt").open("wb") as holes:
        holes.truncate(LARGEST_VALUES + 1)
    for name in ("saved_0", "saved_1", "saved_2", "saved_3", "saved_4", "saved_5", "../key", str(tmp_path / "key")):
        with pytest.raises(CannotWrite):
            copy_values(values, folder, [name])
    assert not folder.exists() or not list(folder.iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="files of holes")
def test_values_of_holes_are_no_values(tmp_path: Path) -> None:
    """They cost the run nothing, and would fill the disk, and then memory."""
    values, folder = tmp_path / "values", tmp_path / "repro_values"
    values.mkdir()
    with (values / "saved_0.pt").open("wb") as holes:
        holes.write(b"PK")
        holes.truncate(FEW_BYTES + 1)
    with pytest.raises(CannotWrite):
        copy_values(values, folder, ["saved_0"])
    assert not list(folder.iterdir())


def test_values_have_one_limit_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beside, "LARGEST_VALUES", 10)
    values, folder = tmp_path / "values", tmp_path / "repro_values"
    values.mkdir()
    for number in range(3):
        _with(values / f"saved_{number}.pt", "four")
    copy_values(values, folder, ["saved_0", "saved_1"])
    with pytest.raises(CannotWrite):
        copy_values(values, folder)
    assert sorted(file.name for file in folder.iterdir()) == ["saved_0.pt", "saved_1.pt"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes")
def test_a_repro_takes_the_place_of_a_file_alone(tmp_path: Path) -> None:
    out = tmp_path / "repro.py"

    async def write() -> None:
        async with nothing_left(out):
            raise AssertionError

    os.mkfifo(out)
    with pytest.raises(CannotWrite, match="cannot be replaced: not a regular file"):
        asyncio.run(write())
    out.unlink()
    out.symlink_to("/dev/zero")
    with pytest.raises(CannotWrite, match="cannot be replaced: not a regular file"):
        asyncio.run(write())
    assert out.is_symlink()


def test_fixes_are_not_written_over_what_the_user_typed_meanwhile(tmp_path: Path) -> None:
    file = _with(tmp_path / "train.py", "x = 1\n")
    file.chmod(0o640)
    _write(file, "x = 1\n", "x = 2\n")
    assert (file.read_text(), stat.S_IMODE(file.stat().st_mode)) == ("x = 2\n", 0o640)
    for before, after, words in (("x = 1\n", "x = 3\n", "changed"), ("x = 2\n", "x = '\ud800'\n", "encoding")):
        with pytest.raises(click.ClickException, match=words):
            _write(file, before, after)
    assert file.read_text() == "x = 2\n"
    file.unlink()
    with pytest.raises(click.ClickException, match="changed"):
        _write(file, "x = 2\n", "x = 3\n")
    assert not file.exists()


def _with(file: Path, text: str) -> Path:
    file.write_text(text)
    return file


def test_a_folder_may_have_any_name(tmp_path: Path) -> None:
    """Names are bytes: what is kept for a workspace, or written about its files, needs no text."""
    name = os.fsdecode(b"\xff\n")
    job = Job(f"/w/{name}/model.py", workspace=f"/w/{name}")
    assert caches_of(job, {"COMPILE_LENS_CACHE_DIR": str(tmp_path)})
    assert history_file(Path(job.file)).suffix == ".json"
    assert msgspec.json.decode(json_bytes({"file": job.file})) == {"file": "/w/?\n/model.py"}
    write_named(tmp_path / "page.html", f"<p>{name}")
    assert (tmp_path / "page.html").read_text() == "<p>?\n"
