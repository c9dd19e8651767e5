"""The private caches: who holds them, what an interrupted compiler leaves, and how they stay within their limit."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compile_lens.agent.runtime.left_folders import remove_folder
from compile_lens.workers.cache_leases import Lease, in_use, leased
from compile_lens.workers.cache_limit import KEPT, CacheInUseError, clear, limit, measure
from compile_lens.workers.caches import PARTS, cache_root, private_cache_environment
from compile_lens.workers.command import caches_of, sandbox_of
from compile_lens.workers.extraction import InstalledTorch, cached_tables, table_path
from compile_lens.workers.host import Host
from compile_lens.workers.job import Depth, EndKind, Job

HOLDER = """
import sys, time
from pathlib import Path
from compile_lens.agent.runtime.left_folders import remove_folder
from compile_lens.workers.cache_leases import Lease
root = Path(sys.argv[1])
lease = Lease(root)
lease.take()
(root / "inductor" / "ab").mkdir(parents=True)
(root / "inductor" / "ab" / "half.so").touch()
(root / "inductor" / "ab" / "source.cpp").touch()
print(lease.held, flush=True)
time.sleep(600)
"""


def put(root: Path, name: str, size: int, used: float) -> Path:
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"x" * size)
    os.utime(file, (used, used))
    return file


def test_what_a_killed_run_was_writing_is_gone_before_the_next_run(tmp_path: Path) -> None:
    old = put(tmp_path, "inductor/cd/whole.so", 10, time.time() - 100)
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "True\n"
    assert in_use(tmp_path)
    with pytest.raises(CacheInUseError, match="A run is using the caches"):
        clear(tmp_path)
    Lease(tmp_path).take()  # another run beside it sweeps nothing
    assert (tmp_path / "inductor/ab/half.so").exists()
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    holder.stdout.close()
    lease = Lease(tmp_path)
    lease.take()
    assert not (tmp_path / "inductor/ab/half.so").exists()
    assert (tmp_path / "inductor/ab/source.cpp").exists()
    assert old.exists()
    lease.in_order = True
    lease.release()
    assert not in_use(tmp_path)


async def test_a_lease_ends_whenever_it_is_cancelled(tmp_path: Path) -> None:
    async def hold() -> None:
        async with leased(tmp_path):
            await asyncio.sleep(600)

    for turns in range(6):
        task = asyncio.create_task(hold())
        for _ in range(turns):
            await asyncio.sleep(0.001)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        while in_use(tmp_path):  # the thread that was under way finishes first
            await asyncio.sleep(0.01)
        assert not list((tmp_path / "leases").glob("*"))


def test_without_a_disk_to_write_on_there_is_no_lease_and_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    lease = Lease(tmp_path / "file" / "caches")
    lease.take()
    assert not lease.held
    lease.release()
    assert limit(tmp_path / "file" / "caches", 0, now=True) == 0


@given(st.lists(st.integers(0, 5_000), max_size=12), st.integers(0, 20_000))
def test_the_limit_takes_the_oldest_folders_and_no_more_than_it_must(sizes: list[int], most: int) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        now = time.time()
        files = [put(root, f"inductor/{n:02}/f.py", size, now - 1_000 + n) for n, size in enumerate(sizes)]
        freed = limit(root, most, now=True)
        kept = [file.exists() for file in files]
        assert freed == sum(size for size, still in zip(sizes, kept, strict=True) if not still)
        assert kept == sorted(kept)  # what is gone is older than what is there
        left = sum(sizes) - freed
        if sum(sizes) <= most:
            assert freed == 0
        else:
            assert left <= most * KEPT
            newest_gone = sizes[kept.count(False) - 1]
            assert left + newest_gone > most * KEPT
        assert not list(root.glob("trash-*"))


@pytest.mark.skipif(sys.platform == "win32", reason="files with holes")
def test_no_run_has_the_caches_of_others_deleted_by_what_it_says_of_its_own(tmp_path: Path) -> None:
    theirs, mine = (tmp_path / "inductor" / name / "folder" for name in ("sandboxed-1", "own"))
    for folder in (theirs, mine):
        folder.mkdir(parents=True)
        (folder / "built.so").write_bytes(b"x" * 60_000)
    limit(tmp_path, 1_000_000, now=True)
    with (theirs / "hole").open("wb") as file:
        file.truncate(10_000_000)
    assert limit(tmp_path, 1_000_000, now=True) == 0
    os.utime(theirs / "built.so", (2.0**33, 2.0**33))
    os.utime(theirs / "hole", (2.0**33, 2.0**33))
    later = time.time() + 1
    os.utime(mine / "built.so", (later, later))
    limit(tmp_path, 100_000, now=True)
    assert [folder.is_dir() for folder in (theirs, mine)] == [False, True]


@pytest.mark.skipif(sys.platform == "win32", reason="changes modes")
def test_no_run_closes_the_caches_of_its_workspace_to_the_next_run(tmp_path: Path) -> None:
    job, environment = Job(str(tmp_path / "a.py")), {"COMPILE_LENS_CACHE_DIR": str(tmp_path)}
    folders = [Path(folder) for folder in caches_of(job, environment).values()]
    sandbox_of(job, str(tmp_path / "scratch"), environment)
    for folder in folders:
        folder.chmod(0)
    sandbox_of(job, str(tmp_path / "scratch"), environment)
    assert [folder.stat().st_mode & 0o777 for folder in folders] == [0o700] * len(folders)


CLOSES = """
import os, sys
from pathlib import Path
from compile_lens.workers.cache_limit import limit
root = Path(sys.argv[1])
if os.geteuid() == 0:  # who reads and writes whatever the modes are
    os.chown(root, 54321, 54321)
    os.setresuid(54321, 54321, 54321)
for name, mode in (("inductor/sandboxed-1/unreadable", 0), ("inductor/sandboxed-2/full", 0o500), ("inductor/own/full", 0o700)):
    folder = root / name
    (folder / "inside").mkdir(parents=True)
    (folder / "inside" / "built.so").write_bytes(b"x" * 60_000)
    (folder / "built.so").write_bytes(b"x" * 60_000)
    folder.chmod(mode)
    (folder.parent).chmod(mode or 0o700)
limit(root, 1_000, now=True)
(root / "inductor" / "sandboxed-2").chmod(0o700)
print([name for name in ("sandboxed-1/unreadable", "sandboxed-2/full/built.so", "own/full") if os.path.lexists(root / "inductor" / name)])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="changes modes")
def test_no_run_closes_its_caches_to_those_who_clean() -> None:
    root = Path(tempfile.mkdtemp())
    try:
        ran = subprocess.run([sys.executable, "-c", CLOSES, str(root)], capture_output=True, text=True)
        assert (ran.stdout, ran.stderr) == ("[]\n", "")
    finally:
        remove_folder(str(root))


def test_the_limit_is_looked_at_once_in_a_while_and_never_during_a_run(tmp_path: Path) -> None:
    put(tmp_path, "triton/h/k.cubin", 1_000, time.time() - 50)
    lease = Lease(tmp_path)
    lease.take()
    assert limit(tmp_path, 10, now=True) == 0
    lease.in_order = True
    lease.release()
    assert limit(tmp_path, 10) == 0  # it looked a moment ago
    assert limit(tmp_path, 10, now=True) == 1_000
    assert {part.name: part.bytes for part in measure(tmp_path)} == dict.fromkeys(PARTS, 0)


def test_the_caches_of_an_older_layout_go_when_nobody_uses_them(tmp_path: Path) -> None:
    put(tmp_path, "v0/inductor/a.py", 1, time.time() - 40 * 24 * 3600)
    put(tmp_path, "v2/inductor/a.py", 1, time.time())
    put(tmp_path, "mine/a.py", 1, 0)
    (tmp_path / "v1").mkdir()
    limit(tmp_path / "v1", 10, now=True)
    assert sorted(folder.name for folder in tmp_path.iterdir()) == ["mine", "v1", "v2"]


def test_tables_that_are_damaged_are_not_used(tmp_path: Path) -> None:
    torch = InstalledTorch(sys.executable, "2.13.0", tmp_path / "torch")
    environment = {"COMPILE_LENS_CACHE_DIR": str(tmp_path)}
    path = table_path(torch, environment)
    path.parent.mkdir(parents=True)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", "{}" * 500)
    assert cached_tables(torch, environment) == path
    data = bytearray(path.read_bytes())
    data[100] ^= 1
    path.write_bytes(data)
    os.utime(path, ns=(1, 1))
    assert cached_tables(torch, environment) is None
    path.write_bytes(data[: len(data) // 2])
    assert cached_tables(torch, environment) is None


PROGRAM = """
import torch
@torch.compile
def f(x):
    return (x.sin() + 1).relu().sum()
assert abs(float(f(torch.ones(8))) - 8 * (torch.tensor(1.0).sin() + 1)) < 1e-4
"""


def libraries(root: Path) -> list[Path]:
    """What runs have compiled; the standby's own, which runs have links to, are whole before."""
    # folders come and go while a run compiles: os.walk passes over those that are gone
    files = (Path(folder, name) for folder, _, names in os.walk(root) for name in names if name.endswith(".so"))
    return [file for file in files if "shared" not in file.parts and not file.is_symlink()]


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform != "linux", reason="counts on signals")
async def test_whatever_part_of_the_caches_is_missing_the_next_run_makes_again(tmp_path: Path) -> None:
    """Also after a run that was ended while a compiler wrote: torch 2.13 would take the empty library for whole."""
    environment = {**os.environ, "COMPILE_LENS_CACHE_DIR": str(tmp_path / "cache")}
    root = cache_root(environment)
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    job = Job(str(file), depth=Depth.INDUCTOR, timeout_s=900.0)
    host = Host(sys.executable, environment)
    try:
        running = asyncio.create_task(host.run(job, lambda _: None))
        while not libraries(root) and not running.done():
            await asyncio.sleep(0.02)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert not libraries(root)
        for _ in range(2):
            end = await host.run(job, lambda _: None)
            assert (end.kind, end.output) == (EndKind.FINISHED, "")
            assert libraries(root)
            limit(root, measure(root)[0].bytes // 2, now=True)
        assert (await host.run(job, lambda _: None)).output == ""
    finally:
        await host.close()
    assert not in_use(root)


def test_a_relative_folder_is_one_from_where_the_command_was_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    # compilers run in folders of their own
    found = private_cache_environment({"COMPILE_LENS_CACHE_DIR": "mine"})
    assert all(Path(folder).is_relative_to(tmp_path / "mine") for folder in found.values())


@pytest.mark.skipif(sys.platform == "win32", reason="makes pipes and links")
def test_what_is_no_lease_has_no_run_fail(tmp_path: Path) -> None:
    leases = tmp_path / "leases"
    (leases / "folder.lease").mkdir(parents=True)
    os.mkfifo(leases / "1-pipe.lease")
    (leases / "2-loop.lease").symlink_to("2-loop.lease")
    (leases / f"{'9' * 200}-x.lease").touch()
    (leases / "²-y.lease").touch()
    lease = Lease(tmp_path)
    lease.take()
    assert lease.held and in_use(tmp_path)
    lease.in_order = True
    lease.release()
    assert not in_use(tmp_path)
    assert not list(leases.glob("*-[xy].lease"))
