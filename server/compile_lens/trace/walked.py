"""Walks through folders that somebody else has made: nested deeper than calls may be, in circles, with names too long for the system."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path


def walked(top: str | Path) -> Iterator[tuple[str, list[str], list[str]]]:
    """Each folder at or below ``top`` with its folders and its other entries, by name, as ``os.walk`` gives them: taking folders out of
    the list keeps the walk from them. No link is followed, and what cannot be read has nothing in it."""
    waiting = [str(top)]
    while waiting:
        place = waiting.pop()
        folders: list[str] = []
        others: list[str] = []
        try:
            with os.scandir(place) as entries:
                for entry in entries:
                    (folders if _is_folder(entry) else others).append(entry.name)
        except OSError:
            continue
        folders.sort()
        others.sort()
        yield place, folders, others
        waiting += [os.path.join(place, name) for name in reversed(folders)]  # noqa: PTH118 - paths are made by the thousand


def files_below(top: str | Path) -> Iterator[Path]:
    """The files below ``top``, links to files among them."""
    for place, _, others in walked(top):
        for name in others:
            file = os.path.join(place, name)  # noqa: PTH118
            if os.path.isfile(file):  # noqa: PTH113 - what cannot be looked at is none
                yield Path(file)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False
