"""Memory of the server after 20 files were opened and analyzed, beside a bare pygls server that has opened them."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from benchmarks.editing import Editor, analyzed, server, write_program
from benchmarks.edits import program
from benchmarks.table.figure import Figure, Of

FILES, LINES = 20, 1_000
BARE = "from pygls.lsp.server import LanguageServer; LanguageServer('bare', '1').start_io()"
MB = 1e6


async def measure() -> list[Figure]:
    """Resident memory of the server's own process; that of the processes that it keeps is shown beside."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "folder")
        files = [write_program(folder, f"train_{number}.py", program(LINES)) for number in range(FILES)]
        async with server(folder, command=[sys.executable, "-c", BARE]) as editor:
            for file in files:
                await editor.open(file)
            await asyncio.sleep(2)
            bare = _process(editor).memory_info().rss / MB
        async with server(folder) as editor:
            for file in files:
                since = editor.mark()
                await editor.open(file)
                await analyzed(editor, since)
            await asyncio.sleep(5)
            own = _process(editor)
            ours = own.memory_info().rss / MB
            others = sum(child.memory_info().rss for child in own.children(recursive=True)) / MB
    return [
        Figure("the server", ours, "MB", bare, "a bare pygls server", 60, Of.ADDED),
        Figure("its standby and other processes", others, "MB"),
    ]


def _process(editor: Editor) -> psutil.Process:
    return psutil.Process(editor.process.pid)
