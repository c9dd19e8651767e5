"""From an edit to facts, predictions, lenses and moved findings, in a short document and in one of 100,000 lines."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.editing import Editor, analyzed, server, write_program
from benchmarks.table.figure import Figure, Of
from compile_lens.analysis.filters import Filters
from compile_lens.lsp.predictions import predict_text
from compile_lens.pipeline.document_facts import facts_of
from compile_lens.syntax.predictions.registry import chosen

SHORT, LONG = 1_000, 100_000
EDITS = 200
# what a user does not notice, whatever else is going on
LONGEST_MS = 5.0
PURE_EDITS = 60
# a user's keystrokes
PAUSE_S = 0.03
BLOCK = """

class Block{n}(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

    def forward(self, x):
        hidden = torch.relu(self.up(x))
        return x + self.down(hidden)
"""
TAIL = """

@torch.compile
def step(x):
    y = torch.relu(x)
    print("step")
    return y + 1


step(torch.ones(3))
"""
EVERY_RULE = chosen({})


def program(lines: int) -> str:
    """A file of modules, one compiled function that breaks, and its call."""
    blocks = "".join(BLOCK.format(n=number) for number in range((lines - TAIL.count("\n")) // BLOCK.count("\n")))
    return f"import torch\n{blocks}{TAIL}"


async def measure() -> list[Figure]:
    """Both lengths in a real server; and for the short one what its threads do, in processor time."""
    text = program(SHORT)
    facts, predicted = [], []
    for number in range(PURE_EDITS):
        edited = text.replace("torch.relu(x)", f"torch.relu(x) + {number}")
        began = time.process_time()
        facts_of(edited)
        facts.append(1e3 * (time.process_time() - began))
        began = time.process_time()
        assert predict_text("/train.py", edited, "", EVERY_RULE, Filters())
        predicted.append(1e3 * (time.process_time() - began))
    return [
        *await _in_server(SHORT, 5),
        Figure(f"{SHORT:,} lines: facts of a whole text, 95 %, processor", _at_95(facts), "ms"),
        Figure(
            f"{SHORT:,} lines: predictions on their thread, 95 %, processor",
            _at_95(predicted),
            "ms",
            goal=5,
            of=Of.VALUE,
        ),
        *await _in_server(LONG, 50),
    ]


async def _in_server(lines: int, goal_ms: float) -> list[Figure]:
    with tempfile.TemporaryDirectory() as scratch:
        folder, record = Path(scratch, "folder"), Path(scratch, "blocks")
        file = write_program(folder, "train.py", program(lines))
        command = [sys.executable, "-m", "benchmarks.watched_server", str(record)]
        async with server(folder, command=command, options={"fixes": {"verify": False}}) as editor:
            since = editor.mark()
            uri = await editor.open(file)
            await analyzed(editor, since)
            await editor.published(uri, since=since)  # findings that the edits move
            await asyncio.sleep(2)
            await _blocks(editor, record)
            taken = [await _edit(editor, uri, number, lines) for number in range(EDITS)]
            await asyncio.sleep(2)  # what is done in the pause after the last one
            blocks = await _blocks(editor, record)
    name = f"{lines:,} lines"
    longest, of_thread, what = blocks[0] if blocks else (0.0, 0.0, "")
    note = f"{of_thread:.1f} ms of them of a processor, in {what}" if longest > LONGEST_MS else ""
    return [
        Figure(f"{name}: edit and its lenses, answered, 95 %", _at_95(taken), "ms", goal=goal_ms, of=Of.VALUE),
        Figure(f"{name}: longest callback of the event loop", longest, "ms", goal=LONGEST_MS, of=Of.VALUE, note=note),
    ]


async def _edit(editor: Editor, uri: str, number: int, lines: int) -> float:
    await asyncio.sleep(PAUSE_S)
    line = 6 + number % (lines - 20) if number % 2 else lines // 2
    began = time.perf_counter()
    await editor.insert(uri, number + 2, line, "\n" if number % 10 == 0 else "#")
    await editor.request("textDocument/codeLens", {"textDocument": {"uri": uri}})
    return 1e3 * (time.perf_counter() - began)


async def _blocks(editor: Editor, record: Path) -> list[tuple[float, float, str]]:
    before = len(record.read_text().splitlines()) if record.exists() else 0
    assert isinstance(editor.process, asyncio.subprocess.Process)
    editor.process.send_signal(signal.SIGUSR1)
    while not record.exists() or len(record.read_text().splitlines()) == before:
        await asyncio.sleep(0.05)
    found: list[tuple[float, float, str]] = json.loads(record.read_text().splitlines()[-1])
    return found


def _at_95(milliseconds: list[float]) -> float:
    return sorted(milliseconds)[int(len(milliseconds) * 0.95)]
