"""Finds programs on the user's search path."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

from compile_lens.agent.runtime.own_home import own_home


def on_search_path(name: str, is_passed_over: Callable[[Path], bool] | None = None) -> str | None:
    """The path of a program. Not one of the current folder, where Windows, and an empty entry, would look: it is often a workspace.

    Nor one that ``is_passed_over``: tools that set variables as one enters a folder (direnv, mise) add folders of a workspace by their
    absolute paths.
    """
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        if not os.path.isabs(folder):  # noqa: PTH117
            continue
        found = shutil.which(os.path.join(folder, name))  # noqa: PTH118
        if found and not (is_passed_over and is_passed_over(Path(found))):
            return found
    return None


def lies_in(place: Path, folders: Iterable[Path]) -> bool:
    """Whether ``place``, by its own name or where it leads to, is in one of ``folders``, which contain no links.

    A folder that holds the user's home does not count: what is there, as in a repository of one's settings, is the user's own.
    """
    folders = tuple(folders)
    if not folders:
        return False
    home = own_home()
    names = (place, Path(os.path.realpath(place.parent), place.name), Path(os.path.realpath(place)))
    return any(
        name.is_relative_to(folder) for folder in folders if not Path(home).is_relative_to(folder) for name in names
    )
