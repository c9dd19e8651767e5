"""Decides which other files an entry may run because a file of the workspace says so: those of the workspace, and of the file's project.

What the user names on the command line or in a list runs wherever it lies. A setting may be the workspace's own.
"""

from __future__ import annotations

import os
from pathlib import Path

from compile_lens.entries.entry import Entry, other_file
from compile_lens.entries.entry_spec import BadEntry
from compile_lens.pipeline.workspace import workspace_root


def within_reach(entries: tuple[Entry, ...], file: str, root: Path | None) -> tuple[Entry, ...]:
    """Those of ``entries`` that run nothing elsewhere: a link in the workspace may lead out of it."""
    return tuple(entry for entry in entries if (other := other_file(entry)) is None or _is_near(other, file, root))


def check_reach(entry: Entry, said_by: str, file: str, root: Path | None) -> None:
    """Raise BadEntry if ``entry``, which ``said_by`` names, runs a file elsewhere."""
    other = other_file(entry)
    if other is not None and not _is_near(other, file, root):
        raise BadEntry(
            f"Not run: {said_by} names {other} as the entry, a file outside of the workspace and the project. To run it, choose it "
            "with `--entry` or in the list of entries."
        )


def _is_near(other: str, file: str, root: Path | None) -> bool:
    own = Path(os.path.realpath(file))
    near = [own.parent, workspace_root(own), Path(os.path.realpath(root)) if root is not None else None]
    real = os.path.realpath(other)
    return any(folder is not None and Path(real).is_relative_to(folder) for folder in near)
