"""The rows of the table, in the order in which they are measured and shown."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from benchmarks.table.figure import Figure


@dataclass(frozen=True, slots=True)
class Row:
    """``function`` measures, as MODULE:NAME. It is ended after ``limit_s``. One that is not ``usual`` is measured when it is named."""

    name: str
    what: str
    function: str
    limit_s: int = 120
    usual: bool = True

    def measure(self) -> list[Figure]:
        """Measure in this process. Raises Absent."""
        module, _, name = self.function.partition(":")
        function: Callable[[], Any] = getattr(import_module(f"benchmarks.{module}"), name)
        found = function()
        figures: list[Figure] = asyncio.run(found) if inspect.iscoroutine(found) else found
        return figures


ROWS = (
    Row("start", "Server: start to the first answer", "server_start:measure"),
    Row("save", "Save to the last finding, warm, depth `dynamo`", "saves:measure", 240),
    Row("models", "Save to the last finding, models of transformers and a small GPT", "models:measure", 480),
    Row("unchanged", "Save with nothing relevant changed", "small_edits:measure_unchanged"),
    Row("one-function", "Save after an edit of one of six regions, 2,000 lines", "small_edits:measure_one_function"),
    Row("opening", "First analysis after opening a folder", "opening:measure", 240),
    Row("gpu", "The same on a GPU", "opening:measure_gpu", 240),
    Row("edit", "Edit to facts, predictions, lenses and moved findings", "edits:measure", 180),
    Row("overhead", "What is put around a run at depth `inductor`", "overhead:measure", 240),
    Row("fixes", "Verified fixes of `examples/`, after the run", "fixes:measure"),
    Row("standby", "Standby ready again after a run", "standby:measure"),
    Row("bisect", "Bisection of a planted bug, nothing in the cache", "bisect:measure", 480),
    Row("repro", "Repro, written and verified", "repro:measure", 240),
    Row("trace", "Trace to all findings", "traces:measure", 360),
    Row("explain", "First `explain` and first hover of a fresh cache", "explain:measure", 180),
    Row("hover", "Hover and completion, 5,000 lines", "hover:measure"),
    Row("memory", "Memory of the server after opening 20 files", "memory:measure"),
    Row("idle", "Wake-ups of the idle server and its standby", "idle:measure", 180),
    Row("stages", "Stages of a trace of 50 MB", "stages:measure"),
    Row("kernels", "Save to the kernels of the changed function, on a CPU", "kernels:measure", 480),
    Row("sandbox", "What the sandbox adds to a run, and a cancel", "sandbox:measure", 180, usual=False),
    Row("death", "From the end of the editor to the end of the last process", "editor_death:measure", usual=False),
    Row("predictions", "Predictions of model files", "predictions:measure", usual=False),
    Row("plugin", "The pytest plugin over a suite that compiles", "pytest_plugin:measure", 480, usual=False),
)
NAMES = tuple(row.name for row in ROWS)
