"""Saves after small edits: of what changes no code, and of one of six regions in a file of 2,000 lines."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from benchmarks.editing import Editor, analyzed, seconds_of_save, server, write_program
from benchmarks.table.figure import Figure, Of

PROGRAM = '''\
"""A training step."""

import torch


def helper(x):
    return x * 2


@torch.compile
def step(x):
    y = helper(x)
    print("step")
    return y + 1


def unused(x):
    return x - 1


step(torch.ones(3))
'''
EDITS = {
    "comment": ("import torch\n", "# Trains.\nimport torch\n"),
    "docstring": ('"""A training step."""', '"""One step of training."""'),
    "formatting": ("    y = helper(x)\n", "    y = helper( x )\n\n"),
    "a function that no region reaches": ("return x - 1", "return x - 2"),
}
# within this, a save that starts a run has started it
NO_RUN_S = 1.0

REGION = """
class Block{n}(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(32, 2, batch_first=True)
        self.up, self.down = nn.Linear(32, 64), nn.Linear(64, 32)
        self.norm = nn.LayerNorm(32)

    def forward(self, x):
        x = self.norm(x + self.attention(x, x, x, need_weights=False)[0])
        x = self.norm(x + self.down(torch.relu(self.up(x))))
        print("block {n}")
        return x


block{n} = torch.compile(Block{n}())
"""
OTHER = """
def metric_{n}(predicted, target):
    error = predicted - target
    squared = error * error
    return squared.mean() + {n}

"""
REGIONS, LINES, REPEATS = 6, 2_000, 3


async def measure_unchanged() -> list[Figure]:
    """From the save to its answer, which is the run's where there is one."""
    figures = []
    async with _analyzed_file("train.py", PROGRAM) as (editor, uri, file):
        version = 1
        for case, (old, new) in EDITS.items():
            assert old in PROGRAM
            taken = []
            for text in (PROGRAM.replace(old, new), PROGRAM, PROGRAM.replace(old, new), PROGRAM):
                version += 1
                taken.append(await _seconds_of_answer(editor, uri, version, file, text))
            figures.append(Figure(case, 1e3 * statistics.median(taken), "ms", goal=50, of=Of.VALUE))
    return figures


@asynccontextmanager
async def _analyzed_file(name: str, text: str) -> AsyncIterator[tuple[Editor, str, Path]]:
    """An editor with one open file that has been analyzed, the file's URI, and the file."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "folder")
        file = write_program(folder, name, text)
        async with server(folder, {"fixes": {"verify": False}}) as editor:
            since = editor.mark()
            uri = await editor.open(file)
            await analyzed(editor, since)
            yield editor, uri, file


async def _seconds_of_answer(editor: Editor, uri: str, version: int, file: Path, text: str) -> float:
    await editor.change(uri, version, {"text": text})
    await asyncio.sleep(0.5)  # predictions and facts are made while nobody types
    file.write_text(text, encoding="utf-8")
    since, began = editor.mark(), time.perf_counter()
    await editor.save(uri)
    await editor.wait(lambda message: _answers(message) or _analyzes(message), since)
    answered = time.perf_counter()
    await asyncio.sleep(NO_RUN_S)
    if any(map(_analyzes, editor.received[since:])):
        return await analyzed(editor, since) - began
    return answered - began


def _answers(message: dict[str, object]) -> bool:
    """Findings at their lines, or the end of progress, which an editor is not shown where it would begin too late."""
    params = message.get("params")
    ends = message.get("method") == "$/progress" and isinstance(params, dict) and params["value"]["kind"] == "end"
    return ends or message.get("method") == "textDocument/publishDiagnostics"


def _analyzes(message: dict[str, object]) -> bool:
    params = message.get("params")
    return message.get("method") == "compileLens/status" and isinstance(params, dict) and params["state"] == "analyzing"


async def measure_one_function() -> list[Figure]:
    """The run after the edit, beside a run of the whole file; an entry that can call one region alone would need a sixth."""
    text = "import torch\nfrom torch import nn\n\n"
    text += "".join(REGION.format(n=number) for number in range(REGIONS))
    calls = "\n".join(f"    x = block{number}(x)" for number in range(REGIONS))
    main = f"\n\nif __name__ == '__main__':\n    x = torch.randn(2, 8, 32)\n{calls}\n"
    while text.count("\n") < LINES - main.count("\n"):
        text += OTHER.format(n=text.count("\n"))
    text += main
    async with _analyzed_file("model.py", text) as (editor, uri, file):
        whole = statistics.median([await seconds_of_save(editor, uri) for _ in range(REPEATS)])
        taken = []
        for number in range(REPEATS):
            edited = text.replace('print("block 3")', f'print("block {number} of 3")')
            await editor.change(uri, number + 2, {"text": edited})
            file.write_text(edited, encoding="utf-8")
            taken.append(await seconds_of_save(editor, uri))
    return [Figure("", statistics.median(taken), "s", whole, "a save that runs all", 0.35)]
