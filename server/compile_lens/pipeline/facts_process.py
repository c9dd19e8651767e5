"""A process that reads long documents, so that neither the event loop nor the interpreter's lock is held meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pickle
import sys
from pathlib import Path
from typing import Any

from compile_lens.pipeline.document_facts import DocumentFacts
from compile_lens.pipeline.facts_worker import LENGTH
from compile_lens.workers.loaded_before import without
from compile_lens.workers.tied import tied
from compile_lens.workers.tracked_environment import is_brought

LIMIT_S = 60.0
TRIES = 2
LARGEST_ANSWER = 1 << 26
# A group of its own: what a terminal sends to the server is not for it.
GROUP: dict[str, Any] = {"process_group": 0} if sys.version_info >= (3, 11) else {"start_new_session": True}
PACKAGES = Path(__file__).resolve().parents[2]


class TooSlow(Exception):
    """A text could not be read in time."""


class FactsProcess:
    """Starts with the first long document. One text at a time; a text that takes too long costs the process."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()

    async def read(self, text: str) -> DocumentFacts:
        """The facts of ``text``. Raises TooSlow. Canceling the awaiting task ends the process, and with it the work."""
        async with self._turn:
            for _ in range(TRIES):
                try:
                    return await asyncio.wait_for(self._ask(text), LIMIT_S)
                except (TimeoutError, asyncio.TimeoutError):
                    break
                except (OSError, asyncio.IncompleteReadError):  # somebody killed it
                    await self.close()
                except asyncio.CancelledError:
                    self._kill()
                    raise
            await self.close()
            raise TooSlow

    async def _ask(self, text: str) -> DocumentFacts:
        process = self._process
        if process is None or process.returncode is not None:
            process = self._process = await self._start()
        assert process.stdin is not None and process.stdout is not None
        data = text.encode("utf-8", "surrogatepass")
        process.stdin.write(LENGTH.pack(len(data)))
        process.stdin.write(data)
        await process.stdin.drain()
        (size,) = LENGTH.unpack(await process.stdout.readexactly(LENGTH.size))
        facts = pickle.loads(await process.stdout.readexactly(size))
        assert isinstance(facts, DocumentFacts)
        return facts

    async def _start(self) -> asyncio.subprocess.Process:
        path = os.pathsep.join([str(PACKAGES), *(folder for folder in sys.path if folder)])
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "compile_lens.pipeline.facts_worker",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, **without(os.environ, is_brought), "PYTHONPATH": path},
            # Python imports from the folder in which `-m` is started: not from a workspace
            cwd=PACKAGES,
            **GROUP,
            **tied(),
            limit=LARGEST_ANSWER,
        )

    def _kill(self) -> None:
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()

    async def close(self) -> None:
        """End the process."""
        self._kill()
        process, self._process = self._process, None
        if process is not None:
            await process.wait()
