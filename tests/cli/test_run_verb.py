"""``compile-lens run`` and ``watch`` beside real programs: what they print while it trains, and what the program notices of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

STORM = """\
import signal
import sys
import time

import torch


class Config:
    name = ""


@torch.compile(backend="eager")
def step(x):
    return x + len(Config.name) if Config.name != "-" else x


def stop(number, _):
    print("stopped by", signal.Signals(number).name, flush=True)
    sys.exit(7)


signal.signal(signal.SIGTERM, stop)
for number in range(6):
    Config.name = f"run{number}"
    step(torch.ones(3))
print("trained", sys.argv[1:], flush=True)
time.sleep(float(sys.argv[1]))
sys.exit(3)
"""
STORM_SAID = "train.py:14:20: information[recompile] Recompile storm: recompiled `step` "


def started(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    (folder / "train.py").write_text(STORM)
    environment = {**os.environ, "TMPDIR": str(folder)}
    environment.pop("TORCH_TRACE", None)
    return subprocess.Popen(
        [sys.executable, "-m", "compile_lens", *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # no terminal, which would send signals to both
        # whoever runs the tests in the background ignores it, and what they start would, too
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


@pytest.mark.slow
def test_a_storm_is_told_while_the_program_runs_and_signals_reach_it(tmp_path: Path) -> None:
    process = started(tmp_path, "run", "--", sys.executable, "train.py", "60", "--", "-x")
    assert process.stdout is not None and process.stderr is not None
    assert process.stdout.readline() == "trained ['60', '--', '-x']\n"
    told = ""
    while STORM_SAID not in told:
        told = process.stderr.readline()
        assert told, "the storm was not told while the program ran"
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (7, "stopped by SIGTERM\n")
    assert "train.py (" not in err and "train.py 60 -- -x: 1 region, 6 graphs, 0 graph breaks, 5 recompiles" in err
    assert not list(tmp_path.glob("compile-lens-*"))


@pytest.mark.slow
def test_a_job_that_runs_elsewhere_is_watched_and_its_exit_code_kept(tmp_path: Path) -> None:
    watching = started(tmp_path, "watch", "--format", "json", "trace")
    ran = started(tmp_path, "run", "-q", "--trace", "trace", "--", sys.executable, "train.py", "0")
    _, err = ran.communicate(timeout=120)
    assert ran.returncode == 3
    assert err.count("Recompile storm") == 1 and "the trace is in trace." in err
    time.sleep(1.0)  # longer than between two looks
    watching.send_signal(signal.SIGINT)
    out, told = watching.communicate(timeout=60)
    assert watching.returncode == 0
    assert STORM_SAID in told
    assert '"code": "recompile"' in out


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        (["no-such-program"], 127, "no-such-program: command not found."),
        (["./train.py"], 126, "./train.py cannot be run: Permission denied. Run it with `python ./train.py`."),
        ([sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"], 137, "nothing was compiled"),
    ],
)
def test_what_cannot_run_says_why_with_the_code_of_a_shell(
    tmp_path: Path, command: list[str], code: int, said: str
) -> None:
    process = started(tmp_path, "run", "--", *command)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, said in err) == (code, True), err


LEAVES = {
    "pipes and devices": "os.mkfifo(f'{d}/{name}a.log'); os.symlink('/dev/zero', f'{d}/{name}b.log'); os.symlink(d, f'{d}/loop')",
    "nested folders": "os.chdir(d); [(os.mkdir('f'), os.chdir('f')) for _ in range(1200)]; os.chmod('.', 0)",
    "a link to a folder of the user": "os.rmdir(d); os.symlink(sys.argv[1], d)",
}


@pytest.mark.parametrize("leaves", LEAVES)
def test_what_a_program_leaves_as_its_trace_changes_neither_its_exit_code_nor_files_elsewhere(
    tmp_path: Path, leaves: str
) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "thesis.tex").touch()
    code = f"import os, sys, time; d, name = os.environ['TORCH_TRACE'], 'dedicated_log_torch_trace_'; {LEAVES[leaves]}"
    process = started(tmp_path, "run", "--", sys.executable, "-c", f"{code}; time.sleep(0.5); sys.exit(5)", str(kept))
    _, err = process.communicate(timeout=60)
    assert (process.returncode, "Traceback" in err) == (5, False), err
    assert (kept / "thesis.tex").exists()
    assert not list(tmp_path.glob("compile-lens-*"))


@pytest.mark.nightly
def test_the_ranks_of_torchrun_are_told_apart(tmp_path: Path) -> None:
    process = started(
        tmp_path, "run", "--", sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "two.py"
    )
    (tmp_path / "two.py").write_text(
        STORM.replace("signal.signal(", 'torch.distributed.init_process_group("gloo")\nsignal.signal(')
        .replace('f"run{number}"', 'f"run{number * torch.distributed.get_rank()}"')
        .replace("sys.argv[1]", "0")
        .replace("sys.exit(3)", "torch.distributed.destroy_process_group()")
    )
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert "rank 1: two.py:14:20: information[recompile] Recompile storm" in err
    assert "Ranks diverge: rank 1 recompiled `step`, and rank 0 did not" in err


@pytest.mark.skipif(sys.platform == "win32", reason="kills by a signal")
def test_what_a_killed_command_has_left_is_deleted_by_the_next(tmp_path: Path) -> None:
    killed = started(tmp_path, "run", "--", sys.executable, "-c", "import os; print(os.getpid(), flush=True); input()")
    killed.kill()
    killed.communicate()
    living = tmp_path / f"compile-lens-run-{os.getpid()}-mine"
    other = tmp_path / f"compile-lens-run-{os.getpid()}-old"
    for folder in (living, other):
        folder.mkdir()
    # of an earlier process with the number of this one
    os.utime(other, (1, 1))
    left = tmp_path / f"compile-lens-run-{killed.pid}-x"
    (left / "deep" / "er").mkdir(parents=True)
    started(tmp_path, "run", "-q", "--", "true").communicate()
    assert [path.name for path in tmp_path.glob("compile-lens-run-*")] == [living.name]
