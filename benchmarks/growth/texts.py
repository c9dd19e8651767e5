"""Costs against the length of a file, and against the number of open files."""

from __future__ import annotations

import asyncio
import itertools
import tempfile
import time
from functools import partial
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from benchmarks.editing import server, write_program
from benchmarks.edits import EVERY_RULE, program
from benchmarks.growth.series import Plot, Series, processor_ms, series_of
from compile_lens.analysis.filters import Filters
from compile_lens.documents.documents import Change, Documents
from compile_lens.documents.line_index import Position
from compile_lens.lsp.predictions import LARGEST, predict_text
from compile_lens.pipeline.document_facts import facts_of

LINES = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
FILES = (1, 2, 5, 10, 20, 50, 100, 200)
LINES_OF_EACH = 300
EDITS = 20


def file_length() -> Plot:
    """Facts, predictions, and the part of an edit that is done on the event loop."""
    predicted = [lines for lines in LINES if len(program(lines)) <= LARGEST]
    return Plot(
        "growth-file-length.svg",
        "Cost against the length of a file",
        "lines",
        (
            series_of(
                "facts, in a process of their own", LINES, lambda lines: processor_ms(partial(facts_of, program(lines)))
            ),
            series_of("predictions, on a thread", predicted, _predicting),
            series_of("an edit, on the event loop", LINES, _editing),
        ),
    )


def _predicting(lines: int) -> float:
    return processor_ms(partial(predict_text, "/train.py", program(lines), "", EVERY_RULE, Filters()))


def _editing(lines: int) -> float:
    documents = Documents()
    documents.open("file:///train.py", "/train.py", "python", 1, program(lines))
    facts = facts_of(program(lines))
    versions = itertools.count(2)

    def edit() -> None:
        nonlocal facts
        for number in range(EDITS):
            place = Position(lines // 2 + number, 0)
            for moved in documents.change("file:///train.py", next(versions), [Change("#\n", place, place)]):
                facts = facts.edited(moved)

    return processor_ms(edit) / EDITS


def open_files() -> Plot:
    """Memory of a server, and the processor time that opening took."""
    memory, used = asyncio.run(_opening())
    return Plot(
        "growth-open-files.svg", "Memory and cost against the number of open files", "open files", (memory, used)
    )


async def _opening() -> tuple[Series, Series]:
    memory, used = [], []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "folder")
        async with server(folder, {"run": {"enabled": "never"}}) as editor:
            process = psutil.Process(editor.process.pid)
            began = _seconds(process)
            opened = 0
            for count in FILES:
                while opened < count:
                    await editor.open(write_program(folder, f"train_{opened}.py", program(LINES_OF_EACH)))
                    opened += 1
                await _until_idle(process)
                memory.append((float(count), process.memory_info().rss / 1e6))
                used.append((float(count), 1e3 * (_seconds(process) - began)))
    return Series("the server's memory", "MB", tuple(memory)), Series("opening", "ms of a processor", tuple(used))


async def _until_idle(process: psutil.Process) -> None:
    since, before = time.monotonic(), -1.0
    while _seconds(process) != before and time.monotonic() - since < 30:
        before = _seconds(process)
        await asyncio.sleep(1)


def _seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)
