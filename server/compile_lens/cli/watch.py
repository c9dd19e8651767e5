"""Runs files again whenever they, or modules of the user's that they import, change on disk."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path

from compile_lens.documents.source_file import source_if_readable
from compile_lens.syntax.imports import read_imports
from compile_lens.syntax.tree import parse

POLL_S = 0.3
# an editor that saves several files does so within this
SETTLE_S = 0.1
MOST_MODULES = 500

Stamp = tuple[int, int]


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
    return {file: {str(part): _stamp(part) for part in _parts(Path(file))} for file in files}


def _parts(file: Path) -> Iterator[Path]:
    """The file and the modules beside it, or in the current folder, that it imports."""
    seen: set[Path] = set()
    waiting = [file]
    while waiting and len(seen) < MOST_MODULES:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        yield path
        text = source_if_readable(str(path))
        if text is not None and "import" in text:
            names = read_imports(parse(text)).names.values()
            waiting += [module for name in names for module in _modules(name, (path.parent, file.parent, Path.cwd()))]


def _modules(name: str, folders: Sequence[Path]) -> Iterator[Path]:
    parts = [part for part in name.split(".") if part]
    for folder in dict.fromkeys(folders):
        for length in range(1, len(parts) + 1):
            place = folder.joinpath(*parts[:length])
            for candidate in (place.with_suffix(".py"), place / "__init__.py"):
                if candidate.is_file():
                    yield candidate


def _stamp(path: Path) -> Stamp | None:
    try:
        state = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return state.st_mtime_ns, state.st_size
