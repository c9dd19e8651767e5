"""Measures rows, each in a process of its own: none sees what another has imported or left, and one that hangs costs only itself."""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

from benchmarks.table.figure import Absent, Figure
from benchmarks.table.machine import Machine
from benchmarks.table.results import Results, RowResult, figure_from
from benchmarks.table.rows import Row

ROOT = Path(__file__).resolve().parents[2]
# from an error of a row, its last lines tell what it was
LAST_LINES = 6


def no_results(machine: Machine) -> Results:
    """Results of this commit and day, without rows."""
    asked = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return Results(machine, asked.stdout.strip(), datetime.date.today().isoformat())


def measure(row: Row, patience: float = 1.0) -> RowResult:
    """Measure a row in a new process, which gets ``patience`` times the row's limit."""
    limit_s = row.limit_s * patience
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="compile-lens-bench-") as folder:
        answer = Path(folder, "figures.json")
        with Path(folder, "log").open("w+", encoding="utf-8") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "benchmarks.table.measuring", row.name, str(answer)],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
            try:
                process.wait(limit_s)
            except subprocess.TimeoutExpired:
                return RowResult(row.name, failed=f"It took longer than {limit_s:.0f} s.")
            finally:
                _end(process)
            seconds = round(time.perf_counter() - began, 1)
            if answer.exists():
                found = json.loads(answer.read_text(encoding="utf-8"))
                figures = tuple(map(figure_from, found["figures"]))
                return RowResult(row.name, figures, seconds, absent=found["absent"])
            log.seek(0)
            lines = log.read().strip().splitlines()[-LAST_LINES:]
            return RowResult(row.name, seconds=seconds, failed="\n".join(lines) or f"exit code {process.returncode}")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End whatever is left of the row."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()


def _measure_here(row: Row, answer: Path) -> None:
    absent, figures = "", list[Figure]()
    try:
        figures = row.measure()
    except Absent as lack:
        absent = str(lack)
    found = {"absent": absent, "figures": [asdict(figure) for figure in figures]}
    answer.write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    from benchmarks.table.rows import ROWS

    name, file = sys.argv[1:]
    _measure_here(next(row for row in ROWS if row.name == name), Path(file))
