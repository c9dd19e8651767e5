"""Opens the stages of what another run left: a trace of any form, the output of tlparse, or a folder of ``TORCH_COMPILE_DEBUG``."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from compile_lens.pipeline.stage_run import lines_of
from compile_lens.stages.collection import OpenedStages
from compile_lens.stages.debug_folder import is_debug_folder, read_debug_folder
from compile_lens.stages.opened import read_stages
from compile_lens.trace.files import TraceError, unpacked

# of files that are run
SOURCES = frozenset({".py", ".ipynb"})


def is_source(path: Path) -> bool:
    """Whether ``path`` is a program, and no recording."""
    return path.suffix in SOURCES and not path.is_dir()


def open_recorded_stages(path: Path) -> list[tuple[str, OpenedStages]]:
    """The stages at ``path``, one for each rank, with the name of each file. Raises TraceError."""
    lines = cache(lines_of)
    if path.is_dir() and is_debug_folder(path):
        return [(str(path), read_debug_folder(path, lines))]
    found: list[tuple[str, OpenedStages]] = []
    problems: list[str] = []
    with unpacked(path) as files:
        for file in files:
            try:
                found.append((file.name, read_stages(file.path, lines)))
            except TraceError as problem:
                problems.append(str(problem))
    if not found:
        raise TraceError("\n".join(problems))
    return found
