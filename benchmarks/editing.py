"""An editor with a real server, for measuring from a save to the last finding."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import tests.lsp.editor
from tests.lsp.editor import Editor, private_environment

from benchmarks.costs import compile_lens

# the longest that a figure waits for one message
PATIENCE_S = 240.0


@contextlib.asynccontextmanager
async def server(
    folder: Path,
    options: dict[str, Any] | None = None,
    command: list[str] | None = None,
    **said: Any,
) -> AsyncIterator[Editor]:
    """An editor on the workspace ``folder``, which may run its files, with state and caches of its own beside it.

    ``said`` is what else the editor says at the beginning, such as its ``capabilities``.
    """
    tests.lsp.editor.LIMIT_S = PATIENCE_S
    private = folder.with_name(f"{folder.name}-private")
    private.mkdir(exist_ok=True)
    environment = {**private_environment(private), "COMPILE_LENS_CACHE_DIR": str(private / "cache")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # what is installed has its compiled modules
    with (private / "server.log").open("ab") as log:
        process = await asyncio.create_subprocess_exec(
            *(command or compile_lens("serve")),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
            env=environment,
            limit=1 << 26,
        )
    editor = Editor(process)
    settings = {"python": sys.executable, "run": {"enabled": "always"}, **(options or {})}
    try:
        await editor.initialize(folder, settings, **said)
        yield editor
        with contextlib.suppress(asyncio.TimeoutError, AssertionError):
            await editor.shut_down()
    finally:
        await editor.end()


async def analyzed(editor: Editor, since: int) -> float:
    """Wait for the end of the run that begins after the ``since``-th message; when the end was told."""
    await editor.status(since, state="analyzing")
    begun = next(
        number
        for number, message in enumerate(editor.received[since:], since)
        if message.get("method") == "compileLens/status" and message["params"]["state"] == "analyzing"
    )
    status = await editor.status(begun, state="idle")
    ended = time.perf_counter()
    if status["health"] != "ok":
        raise RuntimeError(status["message"])
    return ended


async def seconds_of_save(editor: Editor, uri: str) -> float:
    """Save, and wait for the run: seconds to its last finding."""
    since, began = editor.mark(), time.perf_counter()
    await editor.save(uri)
    return await analyzed(editor, since) - began


async def seconds_to_first_finding(editor: Editor, uri: str, file: Path) -> float:
    """Open a document anew, for which nothing is known, and wait for the first finding of the run."""
    await editor.close(uri)
    await editor.status(editor.mark() - 1, state="idle", message="No findings")
    since, began = editor.mark(), time.perf_counter()
    await editor.open(file)
    await editor.published(uri, since=since)
    taken = time.perf_counter() - began
    await analyzed(editor, since)
    return taken


def write_program(folder: Path, name: str, text: str) -> Path:
    """A file of a workspace that is made for it."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def python_path() -> str:
    """What a plain program needs to find its packages, without this project's own."""
    root = Path(__file__).resolve().parent.parent
    own = {str(root), str(root / "server")}
    return os.pathsep.join(entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry not in own)
