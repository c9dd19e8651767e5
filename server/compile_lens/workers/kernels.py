"""Finds the Python of a Jupyter kernel by the kernel's name, as Jupyter does: in the folders of its kernel specifications."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from compile_lens.agent.runtime.regular_file import is_file, read_regular_text
from compile_lens.late_pattern import pattern
from compile_lens.workers.git import repositories_around
from compile_lens.workers.search_path import lies_in
from compile_lens.workers.tracked_environment import is_brought

_NAME = pattern(r"[\w.-]+")


def python_of_kernel(name: str, environment: Mapping[str, str], notebook: Path) -> str | None:
    """The interpreter that the kernel ``name`` of ``notebook`` is started with; None if it is not installed, or starts something else.

    A notebook of a workspace chooses the name only: the specifications are the user's and the system's (jupyter_core/paths.py), none that
    a repository brought, or that are in that of the notebook.
    """
    if not _NAME.fullmatch(name):
        return None
    repositories = repositories_around(Path(os.path.realpath(notebook.parent)))
    for folder in _folders(environment):
        # relative ones are in the current folder, which is often a workspace
        if not folder.is_absolute() or lies_in(folder, repositories):
            continue
        place = folder / "kernels" / name.lower() / "kernel.json"
        try:
            spec = json.loads(read_regular_text(place))
            program = spec["argv"][0] if spec.get("language", "python").lower() == "python" else ""
        except (OSError, ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
            continue  # there is none here, or Jupyter could not read it either
        # tools that set variables as one enters a folder leave those of another workspace
        if is_brought(place):
            continue
        # a bare name is whatever the search path of Jupyter has first
        return program if isinstance(program, str) and os.path.isabs(program) and is_file(program) else None  # noqa: PTH117
    return None


def _folders(environment: Mapping[str, str]) -> Iterator[Path]:
    yield from map(Path, environment.get("JUPYTER_PATH", "").split(os.pathsep))
    if data := environment.get("JUPYTER_DATA_DIR"):
        yield Path(data)
    home = Path(environment.get("HOME") or environment.get("USERPROFILE") or "~").expanduser()
    if sys.platform == "darwin":
        yield home / "Library" / "Jupyter"
    elif sys.platform == "win32":
        yield Path(environment.get("APPDATA") or home / "AppData" / "Roaming") / "jupyter"
        yield Path(environment.get("PROGRAMDATA") or "C:/ProgramData") / "jupyter"
    else:
        yield Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share") / "jupyter"
    if sys.platform != "win32":
        yield from (Path("/usr/local/share/jupyter"), Path("/usr/share/jupyter"))
