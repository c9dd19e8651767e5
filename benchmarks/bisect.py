"""A bisection, beside torch's own ``python -m torch._inductor.compiler_bisector run`` on the same repro in the same run.

Ours three times: with nothing in the cache (precompiled headers are made), with them, and without what torch's search does not do.
``--do-bisect`` adds ``CompilerBisector.do_bisect`` in one process, ``--all`` compares verdicts for every planted bug and writes
them to a file.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.table.figure import Figure

REPROS = Path(__file__).resolve().parent.parent / "tests" / "repro"
SAMPLE = REPROS / "planted" / "relu_accuracy.py"
STOCK = REPROS / "stock_bisect.py"


def ours(repro: Path, cache: Path, *options: str) -> tuple[float, dict[str, Any]]:
    """Seconds from the command to its end, and the result."""
    environment = {**os.environ, "COMPILE_LENS_CACHE_DIR": str(cache)}
    started = time.perf_counter()
    ended = subprocess.run(
        [sys.executable, "-m", "compile_lens", "bisect", "--json", *options, str(repro)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.perf_counter() - started
    found: dict[str, Any] = json.loads(ended.stdout)
    return seconds, found


def stock(repro: Path, *options: str) -> tuple[float, dict[str, Any] | None]:
    """Seconds of torch's own search (not of its process), and its result."""
    ended = subprocess.run(
        [sys.executable, str(STOCK), str(repro), *options], capture_output=True, text=True, check=True
    )
    found = json.loads(ended.stdout.strip().rpartition("\n")[2])
    return found["seconds"], found["result"]


def verdict_of(found: dict[str, Any]) -> tuple[Any, ...]:
    """Backend, subsystem, number, debug info of ours."""
    verdict = found["verdict"] or {}
    return tuple(verdict.get(name) for name in ("backend", "subsystem", "number", "debug_info"))


def stock_verdict(found: dict[str, Any] | None) -> tuple[Any, ...]:
    """The same of torch's."""
    return tuple((found or {}).get(name) for name in ("backend", "subsystem", "bisect_number", "debug_info"))


def measure() -> list[Figure]:
    """Our search with nothing in the cache and with what it left there, beside torch's own."""
    with tempfile.TemporaryDirectory() as folder:
        seconds = {name: ours(SAMPLE, Path(folder))[0] for name in ("nothing in the cache", "the second time")}
    beside, _ = stock(SAMPLE, "--run")
    goals = {"nothing in the cache": 0.05}
    return [Figure(name, taken, "s", beside, "torch's bisector", goals.get(name)) for name, taken in seconds.items()]


def compare(do_bisect: bool) -> None:
    """Print the table."""
    rows: list[tuple[str, float, tuple[Any, ...], int]] = []
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder)
        for name, options in (("cold", ()), ("warm", ()), ("warm, torch's search alone", ("--no-ablation",))):
            seconds, found = ours(SAMPLE, cache, *options)
            rows.append((f"compile-lens bisect, {name}", seconds, verdict_of(found), len(found["steps"])))
    if do_bisect:
        seconds, result = stock(SAMPLE)
        rows.append(("CompilerBisector.do_bisect, one process", seconds, stock_verdict(result), 0))
    seconds, result = stock(SAMPLE, "--run")
    rows.append(("torch's own run", seconds, stock_verdict(result), 0))
    table = Table(title=f"Bisection of {SAMPLE.name}, in seconds")
    for column in ("search", "seconds", "of torch's own", "runs", "verdict"):
        table.add_column(column)
    for name, taken, verdict, steps in rows:
        share = f"{taken / seconds:.2f}"
        table.add_row(name, f"{taken:.1f}", share, str(steps or ""), " / ".join(map(str, verdict)))
    Console(width=140).print(table)


def record(output: Path) -> None:
    """Every planted bug, by us and by torch's own ``do_bisect``; a crash ends the process of the latter."""
    sys.path.insert(0, str(REPROS))
    from planted_bugs import BUGS

    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, bug in BUGS.items():
            repro = Path(folder) / f"{name.replace('-', '_')}.py"
            repro.write_text(bug.text())
            seconds, mine = ours(repro, Path(folder) / "cache")
            try:
                taken, theirs = stock(repro)
                stock_part: Any = {"verdict": stock_verdict(theirs), "seconds": taken}
            except subprocess.CalledProcessError as error:
                stock_part = {"verdict": None, "ended": error.returncode}
            found[name] = {
                "torch": mine["torch"],
                "ours": {"verdict": verdict_of(mine), "seconds": round(seconds, 1)},
                "stock": stock_part,
            }
            output.write_text(json.dumps(found, indent=1) + "\n")
            print(name, found[name], flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--do-bisect", action="store_true")
    parser.add_argument("--all", type=Path, metavar="FILE")
    chosen = parser.parse_args()
    if chosen.all is not None:
        record(chosen.all)
    else:
        compare(chosen.do_bisect)
