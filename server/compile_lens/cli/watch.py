"""Runs files again whenever they, or modules of the user's that they import, change on disk."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from compile_lens.pipeline.imported_files import Stamp, files_of, stamp

POLL_S = 0.3
# an editor that saves several files does so within this
SETTLE_S = 0.1


async def watch(files: Sequence[str], on_change: Callable[[list[str]], Awaitable[None]]) -> None:
    """Call ``on_change`` with the files whose text or imports changed, until canceled."""
    known = _stamps(files)
    while True:
        await asyncio.sleep(POLL_S)
        if _stamps(files) == known:
            continue
        await asyncio.sleep(SETTLE_S)
        now = _stamps(files)
        changed = [file for file in files if now[file] != known[file]]
        known = now
        if changed:
            await on_change(changed)


def _stamps(files: Sequence[str]) -> dict[str, dict[str, Stamp | None]]:
    """For each file, the state of all that it is made of."""
    return {file: {str(part): stamp(part) for part in files_of(Path(file))} for file in files}
