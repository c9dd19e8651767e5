"""Writes repros with the product and runs them in new processes, for the tests."""

from __future__ import annotations

import atexit
import functools
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from compile_lens.analysis.outcome import Outcome
from compile_lens.pipeline.analyze import analyze
from compile_lens.repro.capture import CapturedRegion, read_capture
from compile_lens.repro.contract import BACKEND_VARIABLE, KEEP_CACHE_VARIABLE, Criterion
from compile_lens.repro.selection import Selection
from compile_lens.repro.write import Request, Written, write_repro
from compile_lens.trace.builder import ReportBuilder
from compile_lens.trace.report import CompileReport
from compile_lens.workers.job import CaptureRequest, Depth, Job
from compile_lens.workers.wire import Frame, TraceRecord
from warm_host import WarmHost

RUNNER = Path(__file__).with_name("fork_runner.py")


def job_for(file: Path, depth: Depth = Depth.DYNAMO) -> Job:
    return Job(str(file), depth=depth, cwd=str(file.parent), timeout_s=900)


def write_all(host: WarmHost, requests: Sequence[tuple[Path, Path, Selection, Criterion | None]]) -> list[Written]:
    """Repros of (program, out, what, criterion), none of them run."""
    return [
        host.wait_for(write_repro(host.shared(), Request(job_for(program), wanted, out, criterion, verify=False)))
        for program, out, wanted, criterion in requests
    ]


def captured(
    host: WarmHost, file: Path, argv: tuple[str, ...] = ()
) -> tuple[Outcome, CompileReport, tuple[CapturedRegion, ...]]:
    """One run of ``file`` with a look at the calls of all its regions."""
    builder = ReportBuilder()

    def watch(frame: Frame) -> None:
        if isinstance(frame, TraceRecord):
            builder.feed(frame.data)

    job = Job(str(file), argv=argv, timeout_s=900, capture=CaptureRequest())
    outcome = host.wait_for(analyze(host.shared(), job, watch=watch))
    return outcome, builder.report(), read_capture(builder.report())


@functools.cache
def _runner() -> subprocess.Popen[str]:
    """One process for all tests of this one; it ends with its standard input."""
    process = subprocess.Popen([sys.executable, str(RUNNER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(process.communicate)
    return process


def run_all(scripts: Sequence[tuple[Path, str]], cache: Path, preloaded: Sequence[str] = ()) -> list[tuple[int, str]]:
    """The exit code and output of each (script, backend); '' is the script's own backend. ``preloaded`` modules are imported once."""
    own = {KEEP_CACHE_VARIABLE: "1", "TORCHINDUCTOR_CACHE_DIR": str(cache)}
    return run_each(
        [(file, own | ({BACKEND_VARIABLE: backend} if backend else {})) for file, backend in scripts], preloaded
    )


def run_each(scripts: Sequence[tuple[Path, dict[str, str]]], preloaded: Sequence[str] = ()) -> list[tuple[int, str]]:
    """The exit code and output of each (script, its variables)."""
    asked = [(str(file), variables) for file, variables in scripts]
    process = _runner()
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(json.dumps([preloaded, asked]) + "\n")
    process.stdin.flush()
    return [tuple(json.loads(process.stdout.readline())) for _ in asked]
