"""The server's start, from the process to the answer to ``initialize``, beside an empty pygls server."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time

from rich.console import Console
from rich.table import Table

REPEATS = 7
EMPTY = "from pygls.lsp.server import LanguageServer; LanguageServer('empty', '1').start_io()"


def run() -> None:
    """Measure, and print two rows."""
    empty = _median([sys.executable, "-c", EMPTY])
    ours = _median([sys.executable, "-m", "compile_lens", "serve"])
    table = Table(title=f"Start of the server, in seconds (median of {REPEATS})")
    for column in ("server", "initialize answered", "ratio"):
        table.add_column(column, justify="left" if column == "server" else "right")
    table.add_row("empty pygls server", f"{empty:.2f}", "1.0×")
    table.add_row("compile-lens serve", f"{ours:.2f}", f"{ours / empty:.2f}×")
    Console().print(table)


def _median(command: list[str]) -> float:
    return statistics.median(_start(command) for _ in range(REPEATS))


def _start(command: list[str]) -> float:
    started = time.perf_counter()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
        assert server.stdin is not None and server.stdout is not None
        body = json.dumps(
            {
                "jsonrpc": "2.0",
                "id": 1,
                "method": "initialize",
                "params": {"processId": None, "rootUri": None, "capabilities": {}},
            }
        ).encode()
        server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        server.stdin.flush()
        server.stdout.readline()
        seconds = time.perf_counter() - started
        server.kill()
    return seconds
