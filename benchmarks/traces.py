"""Opening a trace, beside tlparse: time to all findings, memory, and the second opening; 12 MB, larger ones made of it, and two ranks.

tlparse reads a gigabyte in more than a minute; its time for it is taken to be five times that for 200 MB.
"""

from __future__ import annotations

import gzip
import os
import shutil
import sys
import tempfile
from pathlib import Path

from benchmarks.costs import Cost, compile_lens, cost, typical
from benchmarks.large_traces import replicate
from benchmarks.table.figure import Figure, Of

DATA = Path(__file__).parent.parent / "tests" / "data"
SMALL, LARGE_MB, HUGE_MB = "12 MB", 200, 1000
# a fifth of tlparse's time for it is less than Python takes to start: it has no goal
TINY = "two ranks, 0.6 MB"
# of short ones more: a machine that others use, too, is slow at times
REPEATS, OFTEN = 3, 9


def measure() -> list[Figure]:
    """Time to all findings, memory, second opening, and how time grows from the large trace to the huge one."""
    tlparse = find_tlparse()
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        large = 0.0
        for name, trace, options in traces_in(folder):
            repeats = OFTEN if name in (TINY, SMALL) else REPEATS if trace.is_dir() else 1
            first = typical(_opening(trace, folder, f"{name}{number}") for number in range(repeats))
            if name == f"{HUGE_MB} MB":
                by_size = large * HUGE_MB / LARGE_MB
                figures.append(Figure(name, first.clock, "s", by_size, f"{LARGE_MB} MB, by size", 1.25))
            else:
                goal = None if name == TINY else 0.2
                if tlparse is None:
                    figures.append(Figure(name, first.clock, "s", note="tlparse, the baseline, is not installed"))
                else:
                    command = [tlparse, str(trace), *options, "-o", f"{folder}/out", "--overwrite", "--no-browser"]
                    beside = typical(_parsing(command, folder) for _ in range(repeats))
                    figures.append(Figure(name, first.clock, "s", beside.clock, "tlparse", goal))
                large = first.clock
            if name != TINY:
                figures.append(Figure(f"{name}, memory", first.memory, "MB", goal=200, of=Of.VALUE))
            second = typical(_opening(trace, folder, f"{name}0") for _ in range(OFTEN))
            figures.append(Figure(f"{name}, second opening", 1e3 * second.clock, "ms", goal=150, of=Of.VALUE))
            if trace.is_file():
                trace.unlink()
    return figures


def find_tlparse() -> str | None:
    """The Rust program of its wheel, which may have been unpacked into a folder of PYTHONPATH."""
    entries = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    folders = [str(Path(sys.executable).parent), *(str(Path(entry, "bin")) for entry in entries if entry)]
    return shutil.which("tlparse", path=os.pathsep.join([*folders, os.environ.get("PATH", "")]))


def traces_in(scratch: Path) -> list[tuple[str, Path, list[str]]]:
    """Names, traces below ``scratch``, and tlparse's options for them."""
    (packed,) = (DATA / "h200-single").glob("*trace*.log.gz")
    source = gzip.decompress(packed.read_bytes())
    single = scratch / "single.log"
    single.write_bytes(source)
    found: list[tuple[str, Path, list[str]]] = [(SMALL, single, [])]
    for size in (LARGE_MB, HUGE_MB):
        large = scratch / f"{size}.log"
        replicate(source, large, size * 1_000_000)
        found.append((f"{size} MB", large, []))
    ranks, large_ranks = scratch / "ranks", scratch / "large-ranks"
    ranks.mkdir()
    large_ranks.mkdir()
    for rank in (DATA / "h200-ddp").glob("*.log.gz"):
        content = gzip.decompress(rank.read_bytes())
        (ranks / rank.stem).write_bytes(content)
        replicate(content, large_ranks / rank.stem, LARGE_MB * 500_000)
    whole_job = ["--all-ranks-html"]
    return [*found, (TINY, ranks, whole_job), (f"two ranks, {LARGE_MB} MB", large_ranks, whole_job)]


def _opening(trace: Path, folder: Path, cache: str) -> Cost:
    return cost(compile_lens("trace", str(trace)), folder, {"COMPILE_LENS_CACHE_DIR": f"{folder}/cache{cache}"})


def _parsing(command: list[str], folder: Path) -> Cost:
    shutil.rmtree(folder / "out", ignore_errors=True)
    return cost(command, folder)
