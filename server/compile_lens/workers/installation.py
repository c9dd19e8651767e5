"""Detects that an installation has changed since a standby imported torch from it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path

Stamp = tuple[tuple[str, int, int], ...]


def installation_stamp(python: str, library_roots: Iterable[str]) -> Stamp:
    """What changes when the interpreter, its environment or its packages do: times and numbers of a few files and folders.

    A package that is installed, updated or removed changes the folder that holds it; one installed as a link to its source is the
    user's code, which each run reads anew.
    """
    executable = Path(python)
    places = [executable, executable.resolve(), executable.parent.parent / "pyvenv.cfg"]
    for root in library_roots:
        folder = Path(root)
        places += [folder, folder / "torch" / "version.py", folder / "version.py"]
        with contextlib.suppress(OSError):
            places += sorted(folder.glob("*.pth"))
    found: list[tuple[str, int, int]] = []
    for place in dict.fromkeys(places):
        with contextlib.suppress(OSError):
            status = place.stat()
            found.append((str(place), status.st_mtime_ns, status.st_ino))
    return tuple(found)
