"""How long anything is left after the editor's death: the server, its standby, and a run that ignores signals and has left its session."""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path

from lsprotocol import types
from pygls.lsp.client import BaseLanguageClient
from tests.processes import Mark

from benchmarks.sandbox import STUBBORN
from benchmarks.table.figure import Figure

REPEATS = 5
# the server, its standby, the run and its three children
ALL = 6
PROGRAM = f"import torch\n\n\n@torch.compile\ndef f(x):\n    return x + 1\n\n\n{STUBBORN}"


async def measure() -> list[Figure]:
    """The median of each way to die."""
    ways = ("its input ends", "its process is gone, and the input stays open")
    return [Figure(how, statistics.median([await _once(how) for _ in range(REPEATS)]), "ms") for how in ways]


async def _once(how: str) -> float:
    with tempfile.TemporaryDirectory() as folder:
        return await _death(how, _with_program(Path(folder)))


def _with_program(folder: Path) -> Path:
    (folder / "program.py").write_text(PROGRAM)
    return folder


async def _death(how: str, folder: Path) -> float:
    mark = Mark()
    editor = await asyncio.create_subprocess_exec("sleep", "1000")
    client = BaseLanguageClient("benchmark", "1")
    environment = {**mark.environment, "COMPILE_LENS_CACHE_DIR": f"{folder}/cache"}
    await client.start_io(sys.executable, "-m", "compile_lens", "serve", env=environment)
    await client.initialize_async(
        types.InitializeParams(
            capabilities=types.ClientCapabilities(),
            process_id=editor.pid,
            root_uri=folder.as_uri(),
            initialization_options={"run": {"enabled": "always"}, "interpreter": sys.executable},
        )
    )
    client.initialized(types.InitializedParams())
    client.text_document_did_open(
        types.DidOpenTextDocumentParams(types.TextDocumentItem((folder / "program.py").as_uri(), "python", 1, PROGRAM))
    )
    while len(mark.alive()) < ALL:
        await asyncio.sleep(0.05)
    await asyncio.sleep(0.5)
    began = time.perf_counter()
    if how == "its input ends":
        client._server.stdin.close()  # type: ignore[union-attr]
    else:
        editor.kill()
    while mark.alive():
        await asyncio.sleep(0.005)
    taken = 1e3 * (time.perf_counter() - began)
    if editor.returncode is None and how == "its input ends":
        editor.kill()
    await editor.wait()
    await client.stop()
    return taken
