"""Opening traces: what is kept of them, and when it is no longer true."""

from __future__ import annotations

import gzip
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from compile_lens.pipeline.opened_trace import OpenedTrace, TraceOptions, open_trace
from compile_lens.state.opened_traces import OpenedTraces
from compile_lens.trace.files import TraceError

DATA = Path(__file__).parent.parent / "data"
DDP = DATA / "h200-ddp"


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COMPILE_LENS_CACHE_DIR", str(tmp_path / "cache"))
    return Path(shutil.copytree(DDP, tmp_path / "job"))


def opened(job: Path, **options: bool) -> OpenedTrace:
    return open_trace(job, TraceOptions(**options))


def test_what_was_opened_is_kept_as_it_was(job: Path) -> None:
    first = opened(job)
    again = opened(job)
    assert (first.is_new, again.is_new) == (True, False)
    assert again.outcomes == first.outcomes
    assert {finding.place.file for outcome in again.outcomes for finding in outcome.findings} == {
        str(job / "gpu_ddp.py")
    }


def test_what_changes_the_answer_is_opened_anew(job: Path) -> None:
    opened(job)
    program = job / "gpu_ddp.py"
    program.write_text(f"# edited\n{program.read_text()}")
    moved = opened(job)
    assert moved.is_new
    assert {finding.place.line for outcome in moved.outcomes for finding in outcome.findings} == {10}
    assert "gpu_ddp.py has changed since" in moved.outcomes[0].notes[0]
    trace = next(job.glob("*rank_1*"))
    trace.write_bytes(gzip.compress(gzip.decompress(trace.read_bytes())[:-5000]))
    assert opened(job).is_new
    assert opened(job, just_my_code=False).is_new


def test_a_kept_file_cannot_run_code(job: Path, tmp_path: Path) -> None:
    class Hostile:
        def __reduce__(self) -> tuple[object, tuple[str, str]]:
            return Path.write_text, (str(tmp_path / "was run"), "")

    opened(job)
    (kept,) = (tmp_path / "cache").rglob("*.pickle")
    kept.write_bytes(pickle.dumps(Hostile()))
    assert opened(job).is_new
    assert not (tmp_path / "was run").exists()


def test_a_cache_that_cannot_be_written_is_no_error(job: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    OpenedTraces(tmp_path / "file" / "folder").remember(job, (), [], ())


def test_the_output_of_tlparse_is_opened(job: Path, tmp_path: Path) -> None:
    """tlparse keeps a copy of each trace as ``raw.log``."""
    expected = opened(job)
    for number, trace in enumerate(sorted(job.glob("*.log.gz"))):
        folder = tmp_path / "tl_out" / f"rank_{number}"
        folder.mkdir(parents=True)
        (folder / "raw.log").write_bytes(gzip.decompress(trace.read_bytes()))
        (folder / "compile_directory.json").write_text("{}")
        trace.unlink()
    found = open_trace(tmp_path / "tl_out", TraceOptions(folders=(str(job),)))
    assert [o.findings for o in found.outcomes] == [o.findings for o in expected.outcomes]


def test_a_rank_that_is_not_there_is_told(job: Path) -> None:
    with pytest.raises(TraceError, match="has ranks 0, 1: no rank 7"):
        opened(job).of_ranks([7])


def test_a_gz_that_is_cut_gives_what_is_before_the_cut(job: Path) -> None:
    trace = next(job.glob("*rank_1*"))
    trace.write_bytes(trace.read_bytes()[: trace.stat().st_size * 2 // 3])
    for other in job.glob("*rank_0*"):
        other.unlink()
    (outcome,) = opened(job).outcomes
    assert outcome.findings
    assert "Unreadable: " in outcome.notes[0]
    assert "% is intact" in outcome.notes[0]


def test_no_torch_is_needed(job: Path, tmp_path: Path) -> None:
    """The command in a process whose imports of torch fail."""
    blocked = tmp_path / "blocked"
    blocked.mkdir()
    (blocked / "torch.py").write_text("raise ImportError('no torch here')")
    done = subprocess.run(
        [sys.executable, "-m", "compile_lens", "trace", "-q", str(job)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(blocked), *filter(None, sys.path)])},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "rank-divergence" in done.stdout


# what takes longer to import than a small trace takes to read
SLOW_TO_IMPORT = {
    "rich",
    "pygls",
    "jinja2",
    "attr",
    "tarfile",
    "difflib",
    "statistics",
    "compile_lens.agent.runtime.protocol",
}
MODULES = """
import sys
from compile_lens.cli.main import main
try:
    main()
except SystemExit:
    pass
print(*sys.modules, file=sys.stderr)
"""


@pytest.mark.parametrize("again", [False, True])
def test_the_command_imports_no_more_than_it_needs(job: Path, again: bool) -> None:
    if again:
        open_trace(job, TraceOptions(folders=(str(job),)))
    ran = subprocess.run(
        [sys.executable, "-c", MODULES, "trace", str(job)], cwd=job, capture_output=True, text=True, check=True
    )
    loaded = set(ran.stderr.split())
    assert "2 ranks" in ran.stdout
    assert not {name for name in loaded if any(name == slow or name.startswith(f"{slow}.") for slow in SLOW_TO_IMPORT)}
    assert ("compile_lens.trace.builder" in loaded) is not again
