"""How soon a name is explained in a fresh cache, and how long the installed torch takes to read."""

from __future__ import annotations

import asyncio
import os
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.costs import compile_lens, cost
from benchmarks.table.figure import Absent, Figure, Of
from compile_lens.knowledge.lookup import Knowledge
from compile_lens.knowledge.render import to_markdown
from compile_lens.knowledge.tables import bundled_tables
from compile_lens.workers.extraction import cached_tables, extract_tables, find_torch
from compile_lens.workers.interpreter import find_interpreter

REPEATS = 5


def measure() -> list[Figure]:
    """The command, the first hover of a server, and the reading of torch that goes on behind it."""
    torch = find_torch(sys.executable)
    if torch is None:
        raise Absent("torch is not in this interpreter's site-packages, and its names are what is explained")
    with tempfile.TemporaryDirectory() as folder:
        cache = {"COMPILE_LENS_CACHE_DIR": folder}
        version = _seconds(compile_lens("--version"), cache)
        first = _seconds(compile_lens("explain", "aten.relu"), cache)
        hover = _first_hover(cache)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        asyncio.run(extract_tables(torch, {**os.environ, **cache}))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        reading = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    importing = cost([sys.executable, "-c", "import torch"]).processor
    return [
        Figure("`compile-lens explain`", first, "s", version, "--version", 0.5, Of.VALUE),
        Figure("first hover", 1e3 * hover, "ms", goal=500, of=Of.VALUE),
        Figure("torch read in the background, processor", reading, "s", importing, "import torch", 15, Of.VALUE),
    ]


def _first_hover(environment: dict[str, str]) -> float:
    """What the first hover of a server does beyond finding the name: the interpreter, its torch, the bundled tables, the text."""
    began = time.perf_counter()
    torch = find_torch(find_interpreter(Path(__file__)))
    if torch is None:
        torch = find_torch(sys.executable)
    assert torch is not None and cached_tables(torch, environment) is None
    knowledge = Knowledge(bundled_tables(torch.version, str(torch.folder.parent)))
    to_markdown(knowledge.find("aten.relu")[0], knowledge.tables)
    return time.perf_counter() - began


def _seconds(command: list[str], environment: dict[str, str]) -> float:
    return statistics.median(cost(command, environment=environment, check=True).clock for _ in range(REPEATS))
