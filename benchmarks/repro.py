"""``compile-lens repro``: a repro is written and verified, beside one plain run of the file."""

from __future__ import annotations

import shutil
import statistics
import tempfile
from pathlib import Path

from benchmarks.costs import compile_lens, cost
from benchmarks.plain_runs import plain_run
from benchmarks.saves import EXAMPLES, WITH_FINDINGS
from benchmarks.table.figure import Figure

REPEATS = 2


def measure() -> list[Figure]:
    """The examples that have graph breaks; the cache has what the first of several repros leaves there."""
    figures = []
    with tempfile.TemporaryDirectory() as scratch:
        cache = {"COMPILE_LENS_CACHE_DIR": f"{scratch}/cache"}
        for example in EXAMPLES:
            if example.name in WITH_FINDINGS:
                file = Path(shutil.copy(example, scratch))
                command = compile_lens("repro", str(file), "-o", f"{scratch}/repro.py", "--force", "-q")
                taken = [cost(command, scratch, cache, check=True).clock for _ in range(REPEATS + 1)][1:]
                written = plain_run(file, Path(scratch), eager=False).clock
                figures.append(Figure(f"`{file.name}`", statistics.median(taken), "s", written, "python FILE", 2))
    return figures
