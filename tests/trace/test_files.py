"""Where traces may be: a file, folders of a job, compressed, packed; and what is said of what cannot be read."""

from __future__ import annotations

import gzip
import importlib.util
import io
import subprocess
import tarfile
from pathlib import Path

import pytest

from compile_lens.trace.files import CUT_ARCHIVE, TraceError, mapped, unpacked
from compile_lens.trace.records import opened

NAME = "dedicated_log_torch_trace_rank_{}_x.log"
CONTENT = b"V0101 00:00:00.1 1 a.py:1] {}\n"


def job(folder: Path) -> Path:
    """A job of two hosts with a rank each."""
    for rank in (0, 1):
        host = folder / "job" / f"host{rank}"
        host.mkdir(parents=True)
        (host / NAME.format(rank)).write_bytes(CONTENT)
    return folder / "job"


def pack(folder: Path, mode: str) -> Path:
    path = folder / f"job.tar{mode.partition(':')[2] and '.gz'}"
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        archive.add(job(folder), "job")
    return path


@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_an_archive_gives_its_files_under_names_that_say_where_they_are(tmp_path: Path, mode: str) -> None:
    archive = pack(tmp_path, mode)
    with unpacked(archive) as files:
        assert [file.name for file in files] == [f"{archive}/job/host{rank}/{NAME.format(rank)}" for rank in (0, 1)]
        assert [bytes(mapped(file.path)) for file in files] == [CONTENT, CONTENT]
    assert not any(file.path.exists() for file in files)


def test_folders_of_hosts_are_searched(tmp_path: Path) -> None:
    with unpacked(job(tmp_path)) as files:
        assert [file.path.parent.name for file in files] == ["host0", "host1"]


def test_compressed_files_are_mapped_unpacked(tmp_path: Path) -> None:
    (tmp_path / "trace.log.gz").write_bytes(gzip.compress(CONTENT))
    assert bytes(mapped(tmp_path / "trace.log.gz")) == CONTENT


def test_zstandard_is_read_or_its_package_named(tmp_path: Path) -> None:
    frame = (
        b"\x28\xb5\x2f\xfd" + b"\x20" + bytes([len(CONTENT)]) + (1 | len(CONTENT) << 3).to_bytes(3, "little") + CONTENT
    )
    (tmp_path / "trace.log.zst").write_bytes(frame)
    if any(map(importlib.util.find_spec, ("compression", "zstandard"))):
        assert bytes(mapped(tmp_path / "trace.log.zst")) == CONTENT
    else:
        with pytest.raises(TraceError, match="install the package `zstandard`"):
            mapped(tmp_path / "trace.log.zst")


def test_an_archive_that_is_cut_at_its_beginning_is_an_error(tmp_path: Path) -> None:
    archive = pack(tmp_path, "w:gz")
    archive.write_bytes(archive.read_bytes()[:40])
    with pytest.raises(TraceError, match=r"is not a torch trace|cannot be read"), unpacked(archive) as files:
        opened(files[0].path)


def test_what_comes_before_the_cut_of_an_archive_is_opened(tmp_path: Path) -> None:
    archive = pack(tmp_path, "w:gz")
    archive.write_bytes(archive.read_bytes()[:-30])
    with unpacked(archive) as files:
        assert files[-1].note == CUT_ARCHIVE


def test_an_archive_without_a_trace_says_so(tmp_path: Path) -> None:
    (tmp_path / "note").write_text("x")
    with tarfile.open(tmp_path / "notes.tgz", "w:gz") as archive:
        archive.add(tmp_path / "note", "note")
    with pytest.raises(TraceError, match="has no torch trace"), unpacked(tmp_path / "notes.tgz"):
        pass


def test_what_unpacks_to_far_more_than_it_is_does_not_fill_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("compile_lens.trace.files.ALWAYS_UNPACKED", 1 << 16)
    bomb = tmp_path / "trace.log.gz"
    bomb.write_bytes(gzip.compress(bytes(1 << 25)))
    with pytest.raises(TraceError, match="200 times its size"):
        mapped(bomb)


def test_many_small_files_that_unpack_to_much_do_not_fill_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each may be as large as a small trace that was packed well; all together may not."""
    monkeypatch.setattr("compile_lens.trace.files.ALWAYS_UNPACKED", 1 << 21)
    folder = tmp_path / "job"
    folder.mkdir()
    for rank in range(4):
        (folder / f"{NAME.format(rank)}.gz").write_bytes(gzip.compress(CONTENT * 10_000))
    with unpacked(folder) as files:
        assert [bytes(mapped(file.path)) for file in files] == [CONTENT * 10_000] * 4
    for rank in range(40):
        (folder / f"{NAME.format(rank)}.gz").write_bytes(gzip.compress(CONTENT * 10_000))
    with tarfile.open(tmp_path / "job.tar.gz", "w:gz") as archive:
        archive.add(folder, "job")
    for bomb in (folder, tmp_path / "job.tar.gz"):
        with pytest.raises(TraceError, match="200 times its size"), unpacked(bomb):
            pass


def test_an_archive_writes_nothing_elsewhere(tmp_path: Path) -> None:
    """Links in it lead nowhere, not even those that a long path hides from Python's own filter (CVE-2025-4517)."""
    outside = tmp_path / "outside"
    outside.mkdir()
    with tarfile.open(tmp_path / "job.tar", "w") as archive:

        def add(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> None:
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, target
            member.size = len(CONTENT) if kind == tarfile.REGTYPE else 0
            archive.addfile(member, io.BytesIO(CONTENT))

        add(NAME.format(0))
        # each link is short, and stands for a long name: their path is longer than any that Python can follow
        path, links = "", "abcdefghijklmnop"
        for letter in links:
            add(f"{path}{'d' * 247}", tarfile.DIRTYPE)
            add(f"{path}{letter}", tarfile.SYMTYPE, "d" * 247)
            path += f"{'d' * 247}/"
        deep = f"{'/'.join(links)}/{'l' * 254}"
        add(deep, tarfile.SYMTYPE, "../" * len(links))
        add("escape", tarfile.SYMTYPE, f"{deep}{'/..' * 20}{outside}")
        for name in (f"escape/{NAME.format(1)}", f"../outside/{NAME.format(2)}", f"{outside}/{NAME.format(3)}"):
            add(name)
        add(NAME.format(4), tarfile.SYMTYPE, "/etc/passwd")
        add(NAME.format(5), tarfile.SYMTYPE, NAME.format(5))
        add(NAME.format(6), tarfile.FIFOTYPE)
        add(NAME.format(7), tarfile.LNKTYPE, "/etc/passwd")
    with unpacked(tmp_path / "job.tar") as files:
        assert [file.path.name for file in files] == [NAME.format(0)]
        below = [file for file in files[0].path.parent.rglob("*") if not file.is_dir()]
        assert {file.read_bytes() for file in below if not file.is_symlink()} == {CONTENT}
        assert not any(file.is_symlink() for file in below)
    assert not list(outside.iterdir())


def test_whether_a_file_is_an_archive_is_told_by_its_beginning(tmp_path: Path) -> None:
    holes = tmp_path / "x.log"
    with holes.open("wb") as file:
        file.truncate(1 << 40)
    with unpacked(holes) as found:
        assert [one.path for one in found] == [holes]
    zeros = tmp_path / "zeros.log"
    zeros.write_bytes(bytes(64 << 20))  # what reads archives would look through them
    with unpacked(zeros) as found:
        assert [one.path for one in found] == [zeros]


@pytest.mark.parametrize("compression", ["", "gz", "bz2", "xz"])
def test_archives_are_known_in_each_compression(tmp_path: Path, compression: str) -> None:
    log = tmp_path / "dedicated_log_torch_trace_x.log"
    log.write_text("V0101 00:00:00.000000 1 torch/x.py:1] {}\n")
    packed = tmp_path / f"traces.tar.{compression}"
    with tarfile.open(packed, f"w:{compression}") as archive:
        archive.add(log, log.name)
    with unpacked(packed) as found:
        assert [one.name for one in found] == [f"{packed}/{log.name}"]


def test_an_archive_of_files_with_holes_does_not_take_forever(tmp_path: Path) -> None:
    holes = tmp_path / "dedicated_log_torch_trace_x.log"
    with holes.open("wb") as file:
        file.truncate(1 << 40)
    packed = tmp_path / "job.tar"
    subprocess.run(["tar", "--sparse", "-cf", packed, "-C", tmp_path, holes.name], check=True)
    with pytest.raises(TraceError, match="200 times its size"), unpacked(packed):
        pass
    with pytest.raises(TraceError, match="consists of holes"):
        mapped(holes)
