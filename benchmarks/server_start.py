"""The server's start, from the process to the answer to ``initialize``, beside an empty pygls server."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time

from benchmarks.costs import compile_lens
from benchmarks.table.figure import Figure

REPEATS = 9
EMPTY = "from pygls.lsp.server import LanguageServer; LanguageServer('empty', '1').start_io()"


def measure() -> list[Figure]:
    """In turns, so that what else the machine does meets both."""
    empty, ours = [], []
    for _ in range(REPEATS):
        empty.append(_start([sys.executable, "-c", EMPTY]))
        ours.append(_start(compile_lens("serve")))
    baseline = statistics.median(empty[1:])  # the first ones read from disk
    return [Figure("", statistics.median(ours[1:]), "s", baseline, "an empty pygls server", 1.15)]


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
