"""Starts an interpreter so that it imports nothing that a workspace, or a run, can write.

An entry of ``PYTHONPATH`` that is relative, or empty as in ``PYTHONPATH=$PYTHONPATH:/opt/tools``, means the folder where it is started,
which is often a workspace. One that is the user's own is a workspace, too, or may be one, unless an installer fills it. The program
itself gets what is left out here, with its run.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from compile_lens.workers.loaded_before import without
from compile_lens.workers.tracked_environment import is_brought

VARIABLE = "PYTHONPATH"
# folders of installed packages, and what an installer leaves in others (Python's "Recording installed projects")
SITE_FOLDERS = ("site-packages", "dist-packages")
INSTALLED = ".dist-info"


def left_out(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The folders, as absolute paths, that ``fixed`` leaves out."""
    return tuple(str(Path(entry).absolute()) for entry in _entries(environment) if not _is_kept(entry))


def fixed(environment: Mapping[str, str]) -> dict[str, str]:
    """What to set for an interpreter that is to import from no folder of a workspace, and to load nothing that a repository brought."""
    entries = _entries(environment)
    kept = [entry for entry in entries if _is_kept(entry)]
    return {**without(environment, is_brought), **({VARIABLE: os.pathsep.join(kept)} if kept != entries else {})}


def whole(environment: Mapping[str, str]) -> dict[str, str]:
    """What to set for a program, which imports from all of them, and has its variables whole."""
    found = {name: environment[name] for name in without(environment, is_brought)}
    if left_out(environment):
        found[VARIABLE] = os.pathsep.join(str(Path(entry).absolute()) for entry in _entries(environment))
    return found


def _is_kept(entry: str) -> bool:
    """Whether ``entry`` is of the system's, as what a cluster's modules add is, or of an installer's."""
    folder = Path(entry)
    if not folder.is_absolute():
        return False
    # what a repository brings is the workspace's, whatever it looks like, and whoever it belongs to
    return ((folder.exists() and not _is_own(folder)) or _is_of_an_installer(folder)) and not is_brought(folder)


def _is_own(place: Path) -> bool:
    owner = os.geteuid() if hasattr(os, "geteuid") else None
    return os.access(place, os.W_OK) or place.stat().st_uid == owner


def _is_of_an_installer(folder: Path) -> bool:
    try:
        return folder.name in SITE_FOLDERS or any(entry.name.endswith(INSTALLED) for entry in folder.iterdir())
    except OSError:
        return False


def _entries(environment: Mapping[str, str]) -> list[str]:
    text = environment.get(VARIABLE)
    return text.split(os.pathsep) if text else []
