"""How soon a name is explained in a fresh cache, and how long the installed torch takes to read.

The baselines are a command that prints its version, and an import of torch.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from compile_lens.knowledge.lookup import Knowledge
from compile_lens.knowledge.render import to_markdown
from compile_lens.knowledge.tables import bundled_tables
from compile_lens.workers.extraction import cached_tables, extract_tables, find_torch
from compile_lens.workers.interpreter import find_interpreter

REPEATS = 5


def run() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "COMPILE_LENS_CACHE_DIR": folder}
        version = _seconds([sys.executable, "-m", "compile_lens", "--version"], environment)
        first = _seconds([sys.executable, "-m", "compile_lens", "explain", "aten.relu"], environment)
        print(f"first explain, fresh cache: {first:.2f} s, beside --version {version:.2f} s ({first / version:.1f}×)")
        _first_hover(environment)
        torch = find_torch(sys.executable)
        assert torch is not None
        importing = _seconds([sys.executable, "-c", "import torch"], environment, 1)
        began = time.perf_counter()
        asyncio.run(extract_tables(torch, environment))
        reading = time.perf_counter() - began
        print(
            f"reading torch {torch.version}: {reading:.1f} s, beside import torch {importing:.1f} s ({reading / importing:.0f}×)"
        )


def _first_hover(environment: dict[str, str]) -> None:
    """What the first hover of a server does beyond finding the name: the interpreter, its torch, the bundled tables, the text."""
    began = time.perf_counter()
    torch = find_torch(find_interpreter(Path(__file__)))
    assert torch is not None and cached_tables(torch, environment) is None
    knowledge = Knowledge(bundled_tables(torch.version, str(torch.folder.parent)))
    to_markdown(knowledge.find("aten.relu")[0], knowledge.tables)
    first = time.perf_counter() - began
    began = time.perf_counter()
    to_markdown(knowledge.find("aten.gelu")[0], knowledge.tables)
    print(f"first hover: {first * 1e3:.0f} ms, beside the second {(time.perf_counter() - began) * 1e3:.1f} ms")


def _seconds(command: list[str], environment: dict[str, str], repeats: int = REPEATS) -> float:
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        subprocess.run(command, env=environment, check=True, capture_output=True)
        times.append(time.perf_counter() - began)
    return statistics.median(times)


if __name__ == "__main__":
    run()
