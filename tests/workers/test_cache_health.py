"""A cache folder that torch cannot write to is named, with what to do, before anything else fails for it."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from tests.command import Result

from compile_lens.workers.cache_health import find_cache_problem
from compile_lens.workers.host import Host
from compile_lens.workers.job import Depth, Job
from warm_host import WarmHost

FILLS = """import os, torch
try:
    with open(os.environ["TORCHINDUCTOR_CACHE_DIR"] + "/ballast", "wb", 0) as file:
        while file.write(bytes(4096)) == 4096:
            pass
except OSError:
    pass
f = torch.compile(lambda x: x.sin() + 1)
f(torch.ones(3))
"""
PROGRAM = "import torch\nf = torch.compile(lambda x: x + 1, backend='eager')\nf(torch.ones(3))\n"


def test_a_folder_that_can_be_made_is_no_problem_and_not_made(tmp_path: Path) -> None:
    assert find_cache_problem(tmp_path / "new" / "v1") is None
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("blocked", ["cache", "cache/v1", "cache/v1/inductor", "cache/v1/triton"])
def test_a_file_in_the_place_of_a_folder_is_named(tmp_path: Path, blocked: str) -> None:
    file = tmp_path / blocked
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()
    problem = find_cache_problem(tmp_path / "cache" / "v1")
    assert problem is not None and not problem.is_full
    assert f"{file} is a file. Remove it, or set COMPILE_LENS_CACHE_DIR" in str(problem)


def test_a_link_that_leads_nowhere_is_named(tmp_path: Path) -> None:
    (tmp_path / "v1").symlink_to(tmp_path / "gone")
    assert "is a broken link" in str(find_cache_problem(tmp_path / "v1"))


def test_a_disk_that_is_full_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # /dev/full stands for a disk that takes no byte
    with Path("/dev/full").open("wb", buffering=0) as full:
        monkeypatch.setattr("tempfile.TemporaryFile", lambda **_: full)
        problem = find_cache_problem(tmp_path)
    assert problem is not None and problem.is_full
    assert f"The cache folder {tmp_path} is full: No space left on device." in str(problem)


def test_a_limit_on_the_size_of_files_is_told(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from compile_lens.workers.cache_health import find_cache_problem;"
        "print(find_cache_problem(Path(sys.argv[1])))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)),
    )
    assert "cannot be written" in ended.stdout or "is full" in ended.stdout, ended


def test_a_disk_that_is_full_is_told_of_a_run_that_failed_alone(
    tmp_path: Path, warm_host: WarmHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[Host] = []
    (tmp_path / "first.py").touch()
    warm_host.run(Job(str(tmp_path / "first.py"), Depth.INDUCTOR))  # the start of a host asks, too
    monkeypatch.setattr(Host, "_check_caches", lambda host: said.append(host))
    for text, times in (("print(1)", 1), ("raise ValueError", 2), ("import os; os._exit(3)", 2)):
        program = tmp_path / "program.py"
        program.write_text(text)
        said.clear()
        warm_host.run(Job(str(program), Depth.INDUCTOR))
        assert len(said) == times, text  # once before the run


@pytest.mark.parametrize(
    "arguments",
    [["check", "x.py"], ["cache", "stat"]],
    ids=lambda arguments: arguments[0],
)
def test_a_command_says_it_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]) -> None:
    (tmp_path / "x.py").write_text(PROGRAM)
    (tmp_path / "blocked").touch()
    monkeypatch.setenv("COMPILE_LENS_CACHE_DIR", str(tmp_path / "blocked"))
    ended = Result(arguments, tmp_path)
    assert ended.code == 2
    assert ended.err.strip().startswith(f"compile-lens: The cache folder {tmp_path}/blocked/v1 cannot be created")
    assert len(ended.err.strip().splitlines()) == 1


@pytest.mark.nightly
@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can mount a small disk")
def test_a_disk_that_fills_during_a_run_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small, program = tmp_path / "small", tmp_path / "program.py"
    small.mkdir()
    program.write_text(FILLS)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1300k", "tmpfs", str(small)], check=False).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        monkeypatch.setenv("COMPILE_LENS_CACHE_DIR", str(small))
        monkeypatch.setenv("TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS", "0")  # they do not fit, and torch does without
        told = Result(["check", str(program), "--depth", "inductor"], tmp_path)
    finally:
        subprocess.run(["umount", "-l", str(small)], check=True)
    assert told.code == 2
    assert f"The cache folder {small}/v1 is full: No space left on device." in told.err
    assert "compile-lens cache clear" in told.err
