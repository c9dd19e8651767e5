"""Opening a trace, beside tlparse: time to all findings, memory, and the second opening; 12 MB, larger ones made of it, and two ranks.

``python -m benchmarks.traces 1000`` adds one of 1,000 MB.
"""

from __future__ import annotations

import gzip
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.large_traces import replicate

DATA = Path(__file__).parent.parent / "tests" / "data"
SIZES_MB = (50, 200)
REPEATS = 3


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one process: seconds by the clock, seconds of a processor, and MB of memory at its peak."""

    clock: float
    processor: float
    memory: float


def run(more_mb: tuple[int, ...] = ()) -> None:
    """Measure, and print one row per trace."""
    table = Table(title="Opening a trace: compile-lens trace, beside tlparse")
    columns = (
        "trace",
        "tlparse",
        "first opening",
        "ratio (clock)",
        "ratio (processor)",
        "memory, beside",
        "second opening",
    )
    for column in columns:
        table.add_column(column, justify="left" if column == "trace" else "right")
    tlparse = Path(sys.executable).with_name("tlparse")
    with tempfile.TemporaryDirectory() as scratch:
        for name, trace, options in _traces(Path(scratch), more_mb):
            repeats = REPEATS if "MB" not in name or name == "12 MB" else 1
            beside = [
                _cost(
                    [str(tlparse), str(trace), *options, "-o", f"{scratch}/out", "--overwrite", "--no-browser"], scratch
                )
                for _ in range(repeats)
            ]
            command = [sys.executable, "-m", "compile_lens", "trace", str(trace)]
            first = [_cost(command, scratch, f"{scratch}/cache{name}{number}") for number in range(repeats)]
            second = [_cost(command, scratch, f"{scratch}/cache{name}0") for _ in range(REPEATS)]
            table.add_row(name, *_cells(_typical(beside), _typical(first), _typical(second)))
    Console().print(table)


def _traces(scratch: Path, more_mb: tuple[int, ...]) -> list[tuple[str, Path, list[str]]]:
    (packed,) = (DATA / "h200-single").glob("*trace*.log.gz")
    source = gzip.decompress(packed.read_bytes())
    single = scratch / "single.log"
    single.write_bytes(source)
    found: list[tuple[str, Path, list[str]]] = [("12 MB", single, [])]
    for size in (*SIZES_MB, *more_mb):
        large = scratch / f"{size}.log"
        replicate(source, large, size * 1_000_000)
        found.append((f"{size} MB", large, []))
    ranks = scratch / "ranks"
    ranks.mkdir()
    for rank in (DATA / "h200-ddp").glob("*.log.gz"):
        (ranks / rank.stem).write_bytes(gzip.decompress(rank.read_bytes()))
    return [*found, ("two ranks", ranks, ["--all-ranks-html"])]


def _cost(command: list[str], folder: str, cache: str = "") -> Cost:
    shutil.rmtree(f"{folder}/out", ignore_errors=True)
    environment = {**os.environ, "COMPILE_LENS_CACHE_DIR": cache} if cache else None
    began = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, _, used = os.wait4(process.pid, 0)
    clock = time.perf_counter() - began
    process.returncode = 0
    return Cost(clock, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def _typical(costs: list[Cost]) -> Cost:
    return Cost(
        statistics.median(cost.clock for cost in costs),
        statistics.median(cost.processor for cost in costs),
        max(cost.memory for cost in costs),
    )


def _cells(beside: Cost, first: Cost, second: Cost) -> list[str]:
    return [
        f"{beside.clock:.2f} s",
        f"{first.clock:.2f} s",
        f"{first.clock / beside.clock:.2f}",
        f"{first.processor / beside.processor:.2f}",
        f"{first.memory:.0f}, {beside.memory:.0f} MB",
        f"{second.clock * 1000:.0f} ms ({second.processor * 1000:.0f} of a processor)",
    ]


if __name__ == "__main__":
    run(tuple(map(int, sys.argv[1:])))
