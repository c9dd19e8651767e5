"""The files of the user's that a program is made of, as far as its imports say, and whether they have changed on disk."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from compile_lens.agent.runtime.regular_file import is_file
from compile_lens.documents.source_file import source_if_readable
from compile_lens.entries.project_names import SOURCES, ProjectFiles
from compile_lens.syntax.imports import read_imports
from compile_lens.syntax.tree import parse

MOST_MODULES = 500

# when a file was modified, in nanoseconds, and its size in bytes
Stamp = tuple[int, int]


def files_of(file: Path, root: Path | None = None) -> Iterator[Path]:
    """The file and the modules beside it, or in the current folder, that it imports; with ``root``, also those in the folders above it as
    far as ``root``, and in their folders for source."""
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
            waiting += [
                module
                for name in names
                for module in _modules(name, (path.parent, file.parent, Path.cwd(), *_above(path, root)))
            ]


def _above(path: Path, root: Path | None) -> Iterator[Path]:
    if root is not None and path.is_relative_to(root):
        for folder in (folder for folder in path.parents if folder.is_relative_to(root)):
            yield from (folder, *(folder / name for name in SOURCES))


def _modules(name: str, folders: Sequence[Path]) -> Iterator[Path]:
    parts = [part for part in name.split(".") if part]
    for folder in dict.fromkeys(folders):
        for length in range(1, len(parts) + 1):
            place = folder.joinpath(*parts[:length])
            for candidate in (place.with_suffix(".py"), place / "__init__.py"):
                if is_file(candidate):
                    yield candidate


def project_files(file: str, root: str) -> ProjectFiles:
    """The files that names of ``file`` lead to, below ``root`` and in the packages that it is in."""
    return ProjectFiles(file, root, source_if_readable)


def stamp(path: Path) -> Stamp | None:
    """The state of a file or folder on disk; None if it is not there."""
    try:
        state = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return state.st_mtime_ns, state.st_size
