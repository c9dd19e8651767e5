"""The server, with a record of how long each callback kept its event loop: ``python -m benchmarks.watched_server FILE``.

A line of FILE is written when SIGUSR1 arrives: the milliseconds of the longest callbacks since the last one, by the clock and of this
thread's processor time, and what each was.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import time
from typing import Any

from compile_lens.lsp.serving import serve

MOST = 5


def name_of(handle: Any) -> str:
    """The coroutine or function that a callback goes on with."""
    task = getattr(handle._callback, "__self__", None)
    if isinstance(task, asyncio.Task):
        return str(task.get_coro().__qualname__)  # type: ignore[union-attr]
    return str(getattr(handle._callback, "__qualname__", handle._callback))


def watch(file: str) -> None:
    """Record from now on."""
    run: Any = asyncio.events.Handle._run  # type: ignore[attr-defined]
    longest: list[tuple[float, float, str]] = []

    def timed(handle: Any) -> None:
        name = name_of(handle)
        began, of_thread = time.perf_counter(), time.thread_time()
        run(handle)
        taken = 1e3 * (time.perf_counter() - began)
        if taken > 1:
            longest.append((taken, 1e3 * (time.thread_time() - of_thread), name))

    def tell(*_: object) -> None:
        with open(file, "a", encoding="utf-8") as output:  # noqa: PTH123
            output.write(json.dumps(sorted(longest, reverse=True)[:MOST]) + "\n")
        longest.clear()

    asyncio.events.Handle._run = timed  # type: ignore[attr-defined]
    signal.signal(signal.SIGUSR1, tell)


if __name__ == "__main__":
    watch(sys.argv[1])
    sys.exit(serve())
