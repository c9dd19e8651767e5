"""One warm host for all tests of a process that only want to know what the product finds in a file."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path

from compile_lens.session.analyse import analyse
from compile_lens.session.outcome import Outcome
from compile_lens.workers.host import Host
from compile_lens.workers.job import Depth, Job

TIMEOUT_S = 120.0


class WarmHost:
    """A host and the event loop that it lives in, for tests that are plain functions."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._host = Host(sys.executable)

    def analyse(self, file: Path, depth: Depth = Depth.DYNAMO, text: str | None = None) -> Outcome:
        job = Job(str(file), depth=depth, text=text, timeout_s=TIMEOUT_S)
        return self._loop.run_until_complete(analyse(self._host, job))

    def close(self) -> None:
        self._loop.run_until_complete(self._host.close())
        self._loop.close()


def warm_host() -> Iterator[WarmHost]:
    host = WarmHost()
    yield host
    host.close()
