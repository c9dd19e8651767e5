"""From save to the last finding, beside what a user does today: ``TORCH_LOGS=graph_breaks,recompiles python FILE``.

Three ways for each example: the warm standby at depth ``dynamo`` (what an editor has), plain Python with the default backend written
as ``eager``, and plain Python as written (Inductor).
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

from rich.console import Console
from rich.table import Table

from compile_lens.pipeline.analyze import analyze
from compile_lens.workers.host import Host
from compile_lens.workers.job import Job

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))
REPEATS = 3
# replaces the default backend the way a user would, from outside: sitecustomize is imported before the program
EAGER = """
import importlib.abc, importlib.util, sys
class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name != "torch": return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec("torch")
        load = spec.loader.exec_module
        def exec_module(module):
            load(module)
            compile = module.compile
            module.compile = lambda model=None, **options: compile(model, **{**options, "backend": "eager"})
        spec.loader.exec_module = exec_module
        return spec
sys.meta_path.insert(0, Finder())
"""


async def run() -> None:
    """Measure, and print one row per example."""
    table = Table(title="From save to the last finding, in seconds (median of 3; cold caches for Inductor, run once)")
    for column in (
        "example",
        "Compile Lens, warm",
        "first finding",
        "plain, eager",
        "ratio",
        "plain, Inductor",
        "ratio",
    ):
        table.add_column(column, justify="left" if column == "example" else "right")
    for file in EXAMPLES:
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": f"{folder}/inductor"}
            ours, first = await _ours(file, folder)
            eager = statistics.median(_plain(file, environment, folder, eager=True) for _ in range(REPEATS))
            inductor = _plain(file, environment, folder, eager=False)
        table.add_row(
            file.name,
            f"{ours:.2f}",
            f"{first:.2f}",
            f"{eager:.2f}",
            f"{eager / ours:.1f}×",
            f"{inductor:.2f}",
            f"{inductor / ours:.1f}×",
        )
    Console().print(table)


async def _ours(file: Path, folder: str) -> tuple[float, float]:
    """Seconds to the last and to the first finding (or to the last, if there is none), in a standby that is ready."""
    host = Host(sys.executable, {**os.environ, "COMPILE_LENS_CACHE_DIR": folder})
    await host.start()
    last: list[float] = []
    first: list[float] = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        seen: list[float] = []
        await analyze(
            host,
            Job(str(file)),
            lambda outcome, seen=seen, started=started: (  # type: ignore[misc]
                seen.append(time.perf_counter() - started) if outcome.findings and not seen else None
            ),
        )
        last.append(time.perf_counter() - started)
        first.append(seen[0] if seen else last[-1])
        await asyncio.sleep(0)
    await host.close()
    return statistics.median(last), statistics.median(first)


def _plain(file: Path, environment: dict[str, str], folder: str, eager: bool) -> float:
    environment = {**environment, "TORCH_LOGS": "graph_breaks,recompiles"}
    if eager:
        (Path(folder) / "sitecustomize.py").write_text(EAGER)
        environment["PYTHONPATH"] = folder
    started = time.perf_counter()
    subprocess.run([sys.executable, str(file)], env=environment, capture_output=True, check=True)
    return time.perf_counter() - started
