"""Finds programs on the user's search path."""

from __future__ import annotations

import os
import shutil


def on_search_path(name: str) -> str | None:
    """The path of a program. Not one of the current folder, where Windows, and an empty entry, would look: it is often a workspace."""
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        if os.path.isabs(folder) and (found := shutil.which(os.path.join(folder, name))):  # noqa: PTH117, PTH118
            return found
    return None
